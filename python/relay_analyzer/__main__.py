"""``python -m relay_analyzer`` runs the program."""

import subprocess
import sys

from . import BinaryError, find_binary

if __name__ == "__main__":
    try:
        sys.exit(subprocess.call([find_binary(), *sys.argv[1:]]))
    except BinaryError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(130)
