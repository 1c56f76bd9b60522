const MAX_WORDS = 200;

const PAGE = /<(?:!doctype\s+html|html|head|body|center|title)\b/i;
/** A title may be cut, as all text of an error is. */
const TITLE = /<title[^<>]*>([^<]*)/i;
/** Parts of a page that are not text. Each pattern matches at one place only: a page of `<` alone costs no more than its bytes. */
const HIDDEN = /<(?:script|style|!--)/i;
const HIDDEN_END = /<\/(?:script|style)\s*>|-->/i;
const TAG = /<[^<>]*(?:>|$)|[<>]/g;
const ENTITIES: Readonly<Record<string, string>> = { '&amp;': '&', '&quot;': '"', '&#39;': "'", '&nbsp;': ' ' };

/** The text before a web page in an error, then the page's title or first words. Other text is unchanged. */
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

/** Names of the account that vendors write into errors. Google's: resource names, labels, words. OpenAI's: ids of organizations and projects. */
const ACCOUNTS: readonly (readonly [form: RegExp, shown: string])[] = [
  [/(?<=\bprojects\/)(?:\d{6,}|[a-z][a-z0-9-]{4,28}[a-z0-9](?=\/(?:global|locations|regions)\/))/g, '[project]'],
  [/(?<=\bproject_number:|\bproject(?: number)? )\d{6,}/g, '[project]'],
  [/(?<=[?&](?:project|consumer)=)[^&#\s"]+/g, '[project]'],
  [/\bproj_[A-Za-z0-9]{6,}/g, '[project]'],
  [/\borg-[A-Za-z0-9]{10,}/g, '[organization]'],
];

const PATH_PROJECT = /\/projects\/([a-z][a-z0-9-]{4,28}[a-z0-9])\//;

/**
 * Without the account whose credentials the gateway sent (docs/protocols/errors.md#accounts).
 * @param path the path of the request, in which Vertex AI has the project
 */
export function withoutAccount(message: string, path: string): string {
  const hidden = ACCOUNTS.reduce((text, [form, shown]) => text.replace(form, shown), message);
  const id = PATH_PROJECT.exec(path)?.[1];
  return id === undefined
    ? hidden
    : hidden.replaceAll(new RegExp(`(?<![a-z0-9-])${id}(?![a-z0-9-])`, 'g'), '[project]');
}
