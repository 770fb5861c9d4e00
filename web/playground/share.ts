// Texts in the fragment of the page's address, which browsers do not send to servers.

/** The maximum length of a shared text: browsers truncate addresses of several megabytes. */
export const MOST = 1 << 20;

const KEY = "text=";

async function through(bytes: Uint8Array<ArrayBuffer>, stream: ReadableWritablePair<Uint8Array, BufferSource>, most: number): Promise<Uint8Array<ArrayBuffer>> {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    parts.push(next.value);
    length += next.value.length;
    if (length > most) {
      await reader.cancel();
      throw new Error("the text is too long");
    }
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Returns the fragment for a text. */
export async function fragment(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length > MOST) {
    throw new Error(`A link may contain ${MOST >> 20} MB of text, and this is more: send the file.`);
  }
  const packed = await through(bytes, new CompressionStream("deflate-raw"), MOST);
  let binary = "";
  for (let at = 0; at < packed.length; at += 1 << 15) {
    binary += String.fromCharCode(...packed.subarray(at, at + (1 << 15)));
  }
  return `#${KEY}${btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

/** Returns the text in a fragment, if it has one. */
export async function shared(hash: string): Promise<string | undefined> {
  if (!hash.startsWith(`#${KEY}`)) {
    return undefined;
  }
  try {
    const binary = atob(hash.slice(KEY.length + 1).replaceAll("-", "+").replaceAll("_", "/"));
    const packed = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
    return new TextDecoder().decode(await through(packed, new DecompressionStream("deflate-raw"), MOST));
  } catch {
    throw new Error("The link is broken: the text in it cannot be read.");
  }
}
