"""The commands `trellis registry ...`. The top of this dialect: they may use all of Trellis."""
