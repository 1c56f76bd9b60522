import { bareMime } from '../media/media-types.ts';
import type { MediaByUrl } from '../media/remote-media.ts';

/** wire.md B3. */
export const IMAGE_TYPES: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);
export const PDF_TYPE = 'application/pdf';
export const TEXT_TYPE = 'text/plain';

/**
 * The direct API fetches PDFs by https itself (B3, D4). It could fetch images too, but the service takes those as base64 only
 * (service.md 7); a body written in this format said `source.url` knowingly. Vertex never fetches (C3).
 */
export const mediaByUrl: MediaByUrl = {
  types: new Set([...IMAGE_TYPES, PDF_TYPE, TEXT_TYPE]),
  fetches({ url, media, mime }, { host, native }) {
    if (host !== 'direct' || !/^https?:/i.test(url)) return false;
    if (media === 'image') return native;
    // A document by URL is a PDF (B3); one whose URL does not say so may be.
    return media === 'document' && (mime === undefined || bareMime(mime) === PDF_TYPE);
  },
};
