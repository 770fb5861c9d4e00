"""Random numbers, which Threefry, a block cipher, derives from keys and counters.

A key is ten words: the key of the cipher (4), the path of splits (2), the counter (2), and a single 1
where the path goes on (2).
"""

import numpy as np

from cases import case

WORD = 2**64
# The rotations of both words in each round.
ROTATIONS = [(14, 16), (52, 57), (23, 40), (5, 37), (25, 33), (46, 12), (58, 22), (32, 32)]


def _block(key, counter):
    """Twenty rounds over four words; every fourth adds the key."""
    parity = 0x1BD11BDAA9FC1A22
    for word in key:
        parity ^= word
    full = [*key, parity]
    a, b, c, d = counter
    for number in range(20):
        if number % 4 == 0:
            s = number // 4
            a, b, c, d = (x + full[(s + k) % 5] for k, x in enumerate((a, b, c, d)))
            a, b, c, d = a % WORD, b % WORD, c % WORD, (d + s) % WORD
        left, right = ROTATIONS[number % 8]
        turned = lambda x, by: (x << by | x >> (64 - by)) % WORD
        a, c = (a + b) % WORD, (c + d) % WORD
        # TVM adds to the updated sum once more.
        b, d = turned(b, left) ^ (a + b) % WORD, turned(d, right) ^ (c + d) % WORD
        b, d = d, b
    return [a, b, c, d]


def _further(high, low):
    """Moves the 1 of a path by one of 128 places."""
    place = (high << 64 | low) >> 1
    return [place >> 64, place % WORD]


def _generate(key, count):
    """The next key and the requested number of words."""
    cipher, path, counter, place = key[:4], key[4:6], key[6:8], key[8:]
    if counter[1] >= WORD - 1 - count:
        # The counter is exhausted: the path grows by a 1.
        path, place = [path[0] | place[0], path[1] | place[1]], _further(*place)
        counter = [0, 0]
    words, whole = [], count // 4
    for k in range(whole):
        words += _block(cipher, [(word + k) % WORD for word in path + counter])
    end = counter[1] + count
    if count % 4:
        words += _block(cipher, [*path, counter[0], (counter[1] + 4 * whole) % WORD])[:count % 4]
        end = counter[1] + 4 * whole + 4
    return cipher + path + [0, end % WORD] + place, words


def _split(key):
    cipher, path, counter, place = key[:4], key[4:6], key[6:8], key[8:]
    # A path is full when its first word is full: TVM only checks that one.
    if place[0] == 0:
        cipher = _block(cipher, path + counter)
        return cipher + [0] * 4 + [1 << 62, 0], cipher + [1 << 63, 0, 0, 0] + [1 << 62, 0]
    after = _further(*place)
    return key[:8] + after, cipher + [path[0] | place[0], path[1] | place[1]] + counter + after


def _words(values):
    return np.array(values, "uint64")


FRESH = [42, 0, 0, 7, 0, 0, 0, 0, 1 << 63, 0]
SPLIT = [2**64 - 3, 5, 2**63 + 9, 1, 3 << 62, 0, 0, 12, 1 << 61, 0]
LOW = [9, 8, 7, 6, 5, 1 << 40, 0, 100, 0, 1 << 39]
LAST = [11, 12, 13, 14, 15, 16, 0, 4, 0, 0]


def keys():
    for key in (FRESH, SPLIT, LOW, LAST, [1, 2, 3, 4, 5, 6, 0, 4, 1, 0]):
        case("random.threefry_split(%a)", [_words(key)], [_words(half) for half in _split(key)])
        for shape in ([3], [12], [2, 5], [0]):
            after, words = _generate(key, int(np.prod(shape)))
            case(f"random.threefry_generate(%a, out_shape={shape})", [_words(key)],
                 [_words(after), _words(words).reshape(shape)])
    full = [*FRESH[:7], WORD - 5, *FRESH[8:]]
    # If the path is full as well, TVM hashes uninitialized words.
    for key in (full, [*full[:8], 1, 0], [*SPLIT[:7], WORD - 1, 1 << 61, 0]):
        after, words = _generate(key, 6)
        case("random.threefry_generate(%a, out_shape=[6])", [_words(key)], [_words(after), _words(words)])


def _uniform(key, shape, dtype):
    """Uses the upper bits as the fraction of a number between 1 and 2."""
    after, words = _generate(key, int(np.prod(shape)))
    if dtype == "float32":
        bits = np.array([word % 2**32 >> 9 for word in words], "uint32") | np.uint32(127 << 23)
    else:
        bits = np.array([word >> 12 for word in words], "uint64") | np.uint64(1023 << 52)
    return after, bits.view(dtype).reshape(shape) - np.dtype(dtype).type(1)


def numbers():
    for dtype in ("float32", "float64"):
        for key in (FRESH, LOW):
            number = np.dtype(dtype).type
            after, values = _uniform(key, [3, 2], dtype)
            tail = f'out_shape=[3, 2], out_dtype="{dtype}"'
            case(f"random.uniform(%a, %b, %c, {tail})", [_words(key), number(-2), number(3)],
                 [_words(after), values * number(5) + number(-2)])
            after, values = _uniform(key, [2, 3, 2], dtype)
            # Box and Muller: a radius and an angle.
            one, other = values.astype("float64")
            values = np.sqrt(-2 * np.log(1 - one)) * np.sin(2 * np.pi * other)
            case(f"random.normal(%a, %b, %c, {tail})", [_words(key), number(1), number(0.5)],
                 [_words(after), (values * 0.5 + 1).astype(dtype)], 1e-4)
    chances = np.array([[0.1, 0.4, 0.5], [3, -1, 1]], "float32")
    after, values = _uniform(SPLIT, [2, 6], "float32")
    share = np.maximum(chances, 0)
    share = (share / share.sum(1, keepdims=True)).cumsum(1)
    # The first one that is exceeded; negative numbers count as 0.
    out = np.array([[next(k for k in range(3) if share[row, k] > value) for value in values[row]] for row in range(2)],
                   "int32")
    case("random.multinomial(%a, %b, num_samples=6)", [_words(SPLIT), chances], [_words(after), out])
