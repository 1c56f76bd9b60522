import { Secret } from '../../../plugin/index.ts';
import type { Report } from '../../kernel/report.ts';
import { CONNECTION_HEADERS } from '../connection-headers.ts';

/** Names of headers that may hold credentials. */
const CREDENTIAL = /authori[sz]ation|cookie|api-?key|subscription-key|token|secret|passw|credential|signature/;

/** RFC 9110, sections 5.6.2 and 5.5, without line folding and non-ASCII bytes, which only old servers accept. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

interface ExtraHeaders {
  readonly headers?: Readonly<Record<string, string>>;
  readonly secret_headers?: Readonly<Record<string, Secret>>;
}

interface ReadHeaders {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly credentials: Readonly<Record<string, string>>;
}

/** With the headers of the provider, which the settings cannot change. Undefined when a problem was reported. */
export function readHeaders(entry: ExtraHeaders, own: ReadHeaders, report: Report): ReadHeaders | undefined {
  const taken = new Set([...Object.keys(own.headers), ...Object.keys(own.credentials)]);
  const headers = readMap('headers', entry.headers ?? {}, { taken, report });
  const secrets = readMap('secret_headers', entry.secret_headers ?? {}, { taken, report });
  if (!headers || !secrets) return undefined;
  return {
    headers: Object.freeze({ ...headers, ...own.headers }),
    credentials: Object.freeze({ ...secrets, ...own.credentials }),
  };
}

function readMap(
  key: 'headers' | 'secret_headers',
  written: Readonly<Record<string, string | Secret>>,
  { taken, report }: { readonly taken: Set<string>; readonly report: Report },
): Readonly<Record<string, string>> | undefined {
  const read = Object.entries(written).map(([title, given]) => {
    const name = title.toLowerCase();
    const value = given instanceof Secret ? given.reveal() : given;
    const isOpen = key === 'headers' && CREDENTIAL.test(name);
    const onName =
      nameProblem(name, taken) ?? (isOpen ? 'may hold a credential: write it under secret_headers' : undefined);
    const problem = onName ?? (VALUE.test(value) ? undefined : 'has a value that no header can carry');
    if (problem !== undefined)
      report({
        path: [key, title],
        message: `the header \`${title}\` ${problem}`,
        ...(onName !== undefined && { on: 'key' }),
      });
    taken.add(name);
    return problem === undefined ? ([name, value] as const) : undefined;
  });
  const sound = read.filter((header) => header !== undefined);
  return sound.length === read.length ? Object.fromEntries(sound) : undefined;
}

function nameProblem(name: string, taken: ReadonlySet<string>): string | undefined {
  if (!NAME.test(name)) return 'has a name that no header can have';
  if (CONNECTION_HEADERS.has(name)) return 'belongs to the connection or is written by the gateway';
  return taken.has(name) ? 'is already set by another setting of this entry' : undefined;
}
