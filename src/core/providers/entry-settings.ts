import { hash } from 'node:crypto';
import type { CatalogEntry, ExtensionSetting } from '../../../schemas/types.generated.ts';
import type { Report } from '../kernel/report.ts';
import type { Secret } from '../../plugin/index.ts';
import type { Location } from './provider.ts';
import type { Spoken } from './definition.ts';

/** The base of an API, before the provider's own paths. */
export interface Base {
  readonly origin: string;
  /** `''`, or a path that begins with a slash and does not end with one. */
  readonly prefix: string;
}

/** The entry's `base_url`, or the provider's own origin. Undefined when a problem was reported. */
export function readBase(entry: CatalogEntry, ownOrigin: string, report: Report): Base | undefined {
  if (entry.base_url === undefined) return { origin: ownOrigin, prefix: '' };
  const url = URL.parse(entry.base_url);
  const problem = url ? refuse(url, entry.allow_insecure ?? false) : 'is not a URL';
  if (!url || problem) {
    report({ path: ['base_url'], message: `base_url ${problem}` });
    return undefined;
  }
  return { origin: url.origin, prefix: url.pathname.replace(/\/+$/, '') };
}

interface OwnBase {
  readonly origin: string;
  /** Endings that operators copy by mistake: documents show whole paths, and SDKs of other vendors expect a version. */
  readonly mistake: RegExp;
  /** The path or version that is added for each request, as the subject of a message. */
  readonly added: string;
}

/** The same for an API whose version is added to the base. */
export function readBareBase(entry: CatalogEntry, own: OwnBase, report: Report): Base | undefined {
  const base = readBase(entry, own.origin, report);
  const ending = own.mistake.exec(base?.prefix ?? '')?.[0];
  if (!base || ending === undefined) return base;
  const message = `base_url ends with ${ending}; ${own.added} are added to it for each request`;
  report({ path: ['base_url'], message, suggestion: base.origin + base.prefix.slice(0, -ending.length) });
  return undefined;
}

function refuse(url: URL, allowInsecure: boolean): string | undefined {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must start with https:// (or http://)';
  // Credentials would appear with the URL in explain, logs and errors.
  if (url.username || url.password) return 'must not contain credentials';
  if (url.search || url.hash) return 'must not have a query or a fragment';
  if (url.protocol === 'http:' && !allowInsecure) return 'is plain http: use https, or set allow_insecure: true';
  return undefined;
}

/** Checks that a header can carry the key. Otherwise undici would refuse it at the first request instead of at load. */
export function readApiKey(secret: Secret, report: Report): string | undefined {
  const key = secret.reveal();
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  report({
    path: ['api_key'],
    message: 'api_key is empty, or contains a space, a line break or another character that no key has',
  });
  return undefined;
}

const DIGITS = 12;

/** Names an account in signatures. Clients see it: give no secret. A rotated key of an entry does not change it. */
export const scopeOf = (account: readonly unknown[]): string =>
  hash('sha256', JSON.stringify(account)).slice(0, DIGITS);

/** For an API that refuses every field that it does not document. */
export const NO_EXTENSIONS: ReadonlySet<string> = new Set();

/** `extensions` of an entry. Undefined: all of them. */
export function readExtensions(
  setting: ExtensionSetting | undefined,
  byDefault: Location['extensions'],
): Location['extensions'] {
  if (setting === undefined) return byDefault;
  if (setting === 'keep') return undefined;
  return setting === 'drop' ? NO_EXTENSIONS : new Set(setting);
}

/** OpenAI's own APIs. The client's API and `api` of the entry decide which one a request is sent to. */
export const OPENAI_APIS: readonly Spoken[] = [
  { format: 'openai-chat', host: 'direct', extensions: NO_EXTENSIONS },
  { format: 'openai-responses', host: 'direct', extensions: NO_EXTENSIONS },
];
