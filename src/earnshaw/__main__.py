"""`python -m earnshaw` is the command line."""

from earnshaw.cli.main import main

if __name__ == "__main__":
    main()
