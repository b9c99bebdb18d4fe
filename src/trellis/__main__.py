"""`python -m trellis`"""

from trellis.cli import main

main()
