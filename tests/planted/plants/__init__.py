"""Every plant: a defect, the checks that must find it, and where. A new one is a function in one of these files."""

from tests.planted.plants import across, files, giveaways, leaks, lengths, rows
from tests.planted.plants.base import ANY, PLANTS

__all__ = ["ANY", "PLANTS", "across", "files", "giveaways", "leaks", "lengths", "rows"]
