"""The command `trellis names`. The top of this dialect: it may use all of Trellis."""
