"""The commands `trellis table ...`. The top of this dialect: they may use all of Trellis."""
