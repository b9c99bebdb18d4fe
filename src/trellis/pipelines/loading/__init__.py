"""One load: what it is to do, the attempts at it, and what is checked before it commits."""
