import { bareMime } from '../media/media-types.ts';
import type { MediaByUrl } from '../media/remote-media.ts';

/** Image types that Claude reads (docs/protocols/anthropic-messages.md#sources). */
export const IMAGE_TYPES: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);
export const PDF_TYPE = 'application/pdf';
export const TEXT_TYPE = 'text/plain';

/**
 * The direct API fetches PDFs by https itself (docs/protocols/anthropic-messages.md#sources,
 * docs/protocols/requests.md#http-media). It can fetch images too, but this gateway promises base64 for them; a caller
 * who writes `source.url` in a body of this format requests the URL. Vertex AI never fetches
 * (docs/protocols/vertex-ai.md#claude-features-not-served).
 */
export const mediaByUrl: MediaByUrl = {
  types: new Set([...IMAGE_TYPES, PDF_TYPE, TEXT_TYPE]),
  fetches({ url, media, mime }, { host, native }) {
    if (host !== 'direct' || !/^https?:/i.test(url)) return false;
    if (media === 'image') return native;
    // A document by URL is a PDF (docs/protocols/anthropic-messages.md#sources); a document whose URL has no known extension may be one.
    return media === 'document' && (mime === undefined || bareMime(mime) === PDF_TYPE);
  },
};
