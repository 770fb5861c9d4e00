"""Makes the files of the pages from what `tests/editors/vscode/pictures.mjs` has taken.

pictures.py FOLDER MEDIA

FOLDER/NAME.png become MEDIA/walkthrough/NAME.png, with 256 colours; FOLDER/frames become
MEDIA/recording.gif. A walkthrough or a recording that is too large to be sent around is refused.
"""

import json
import sys
from pathlib import Path

from PIL import Image

# Bytes.
MAX_PICTURE = 200_000
MAX_RECORDING = 1_500_000


def few_colours(picture):
    return picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)


def recording(frames, file):
    listed = json.loads((frames / "frames.json").read_text())
    pictures = [Image.open(frames / frame["name"]).convert("RGB") for frame in listed]
    # One palette for all frames: what does not change is not stored again. It is made of all of them.
    sheet = Image.new("RGB", (pictures[0].width, sum(picture.height for picture in pictures)))
    top = 0
    for picture in pictures:
        sheet.paste(picture, (0, top))
        top += picture.height
    palette = few_colours(sheet)
    first, *rest = (picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures)
    times = [frame["milliseconds"] for frame in listed]
    first.save(file, save_all=True, append_images=rest, duration=times, loop=0, optimize=True)


def refuse_above(file, most):
    size = file.stat().st_size
    print(f"{file}: {size:,} bytes")
    if size > most:
        sys.exit(f"pictures: {file} may have {most:,} bytes")


def main():
    folder, media = Path(sys.argv[1]), Path(sys.argv[2])
    for picture in sorted(folder.glob("*.png")):
        file = media / "walkthrough" / picture.name
        few_colours(Image.open(picture)).save(file, optimize=True)
        refuse_above(file, MAX_PICTURE)
    file = media / "recording.gif"
    recording(folder / "frames", file)
    refuse_above(file, MAX_RECORDING)


main()
