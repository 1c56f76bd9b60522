/** Signatures of the image types that Claude reads, each with its offset in the file. */
const SIGNATURES: readonly { readonly mime: string; readonly at: number; readonly bytes: Buffer }[] = [
  { mime: 'image/jpeg', at: 0, bytes: Buffer.from([0xff, 0xd8, 0xff]) },
  // PNG specification (W3C), 5.2.
  { mime: 'image/png', at: 0, bytes: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) },
  { mime: 'image/gif', at: 0, bytes: Buffer.from('GIF87a') },
  { mime: 'image/gif', at: 0, bytes: Buffer.from('GIF89a') },
  // RFC 9649, 2.3: RIFF, the size, WEBP.
  { mime: 'image/webp', at: 8, bytes: Buffer.from('WEBP') },
];

const RIFF = Buffer.from('RIFF');
const PDF = Buffer.from('%PDF-');
/**
 * Readers accept the header anywhere in the first 1024 bytes (ISO 32000-1, Annex H, note 13), and real files rely on
 * that.
 */
const PDF_HEADER_WITHIN = 1024;

/** The type of an image or a PDF by its first bytes; undefined for anything else. */
export function sniffMedia(data: Buffer): string | undefined {
  const found = SIGNATURES.find(({ at, bytes }) => data.subarray(at, at + bytes.length).equals(bytes));
  if (found) return found.mime !== 'image/webp' || data.subarray(0, 4).equals(RIFF) ? found.mime : undefined;
  return data.subarray(0, PDF_HEADER_WITHIN).includes(PDF) ? 'application/pdf' : undefined;
}
