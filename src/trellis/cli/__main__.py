"""`python -m trellis.cli`"""

from trellis.cli import main

main()
