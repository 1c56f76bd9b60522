/** Longest text of a page that is shown. */
const MAX_WORDS = 200;

const PAGE = /<(?:!doctype\s+html|html|head|body|center|title)\b/i;
/** A title may be cut, as all text of an error is. */
const TITLE = /<title[^<>]*>([^<]*)/i;
/** Parts of a page that are not text. Each pattern matches at one place only: a page of `<` alone costs no more than its bytes. */
const HIDDEN = /<(?:script|style|!--)/i;
const HIDDEN_END = /<\/(?:script|style)\s*>|-->/i;
const TAG = /<[^<>]*(?:>|$)|[<>]/g;
const ENTITIES: Readonly<Record<string, string>> = { '&amp;': '&', '&quot;': '"', '&#39;': "'", '&nbsp;': ' ' };

/**
 * The text of an error with a web page in it: what stands before the page, then the title of the page or its first words. A front end of the
 * vendor wrote the page for a browser. Any other text is returned unchanged.
 */
export function withoutPage(text: string): string {
  const at = text.search(PAGE);
  if (at < 0) return text;
  const page = text.slice(at);
  const words = plain(TITLE.exec(page)?.[1] ?? '') || plain(visible(page)) || 'a web page without text';
  return `${plain(text.slice(0, at))} ${words}`.trim();
}

const visible = (page: string): string =>
  page
    .split(HIDDEN)
    .map((part, index) => (index === 0 ? part : afterEnd(part)))
    .join(' ')
    .replaceAll(TAG, ' ');

function afterEnd(part: string): string {
  const end = HIDDEN_END.exec(part);
  return end ? part.slice(end.index + end[0].length) : '';
}

/** On one line, and never cut inside a character. */
const plain = (text: string): string =>
  text
    .replaceAll(/&(?:amp|quot|#39|nbsp);/g, (entity) => ENTITIES[entity]!)
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_WORDS)
    .replace(/[\uD800-\uDBFF]$/, '');
