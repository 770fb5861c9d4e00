"""Fourier transforms."""

import numpy as np

from cases import case, floats


def whole():
    for shape in ((5,), (2, 3, 8), (3, 1)):
        re, im = floats(*shape), floats(*shape)
        signal = re.astype("float64") + 1j * im
        for inverse, out in ((False, np.fft.fft(signal)), (True, np.fft.ifft(signal))):
            case(f'dft(%a, %b, inverse={inverse}, attrs_type_key="relay.attrs.DFTAttrs")', [re, im],
                 [out.real.astype("float32"), out.imag.astype("float32")], 1e-4)


def windows():
    for shape in ((20,), (2, 17)):
        for size, hop, normalized, onesided in ((6, 3, False, True), (6, 4, True, False), (5, 2, True, True)):
            x, window = floats(*shape), floats(size, low=0.1, high=1)
            rows = x.reshape(-1, shape[-1]).astype("float64")
            frames = [rows[:, k:k + size] * window for k in range(0, shape[-1] - size + 1, hop)]
            out = np.fft.fft(np.stack(frames, -1), axis=1)[:, :size // 2 + 1 if onesided else size]
            out = out / np.sqrt(size) if normalized else out
            out = np.stack([out.real, out.imag], -1).astype("float32")
            case(f"stft(%a, %b, n_fft={size}, hop_length={hop}, win_length={size}, normalized={normalized}, onesided={onesided}, "
                 'attrs_type_key="relay.attrs.StftAttrs")', [x, window], out if len(shape) == 2 else out[0], 1e-4)
