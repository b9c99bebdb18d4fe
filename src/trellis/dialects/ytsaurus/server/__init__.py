"""`trellis table serve`: a store behind the HTTP interface of YTsaurus, for its own clients."""
