"""The commands `trellis pinot ...`. The top of this dialect: they may use all of Trellis."""
