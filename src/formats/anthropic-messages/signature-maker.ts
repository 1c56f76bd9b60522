/**
 * The shortest of Google's recorded signatures has 72 characters; a much shorter one proves nothing about its maker.
 */
const SHORTEST = 64;

/** Protobuf tags of length-delimited fields 1 and 2, which all signatures are wrapped in. */
const WRAPPERS = new Set([0x0a, 0x12]);

/**
 * True for a thought signature that Google made. Such a signature is on a thinking part after a fallback between
 * providers, and Claude answers it with a 400. The signatures of both are base64 of protobuf and do not name their
 * maker. Measured on all recorded ones: inside the wrappers, Google's bytes begin with 01, Claude's with a version in
 * field 1 (08). Any other signature counts as Claude's.
 */
export function isFromGoogle(signature: string): boolean {
  if (signature.length < SHORTEST) return false;
  const bytes = Buffer.from(signature.slice(0, 64), 'base64');
  let at = 0;
  while (WRAPPERS.has(bytes[at] ?? 0)) {
    at += 1;
    // The length is a varint, seven bits per byte.
    while ((bytes[at] ?? 0) >= 0x80) at += 1;
    at += 1;
  }
  return bytes[at] === 0x01;
}
