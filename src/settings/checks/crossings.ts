import type {
  CatalogEntry,
  CatalogFile,
  GatewayFile,
  KeysFile,
  ServerFile,
  Target,
} from '../../../schemas/types.generated.ts';
import { Secret, type Report } from '../../plugin/index.ts';
import { digestOf, keyDigest } from '../compile/key-digest.ts';
import type { JsonPath } from '../read/pointer.ts';
import { mayHoldCredential } from './forward-headers.ts';

/** The files that could be read. */
interface Files {
  readonly server: ServerFile | undefined;
  readonly catalog: CatalogFile | undefined;
  readonly keys: KeysFile | undefined;
  readonly gateway: ReadonlyMap<string, GatewayFile>;
}

/** Of the gateway itself: the admin listener's token. */
const OWN = 'a secret of server.yaml';

/** Shorter ones are no secrets, and stand in other words by chance: `none`, `EMPTY`. */
const SHORTEST = 8;

/** As `gatehouse keys create` makes them: these are known by their digest, wherever they stand. */
const GATEWAY_KEY = /gatehouse_[a-z0-9]+_[\w-]{8,}/g;

/**
 * Credentials that the settings themselves would send to somebody else, or show in clear: a secret of one place that stands in a
 * part of the settings that is no secret and goes upstream. Compared by value, so it does not matter how it came there.
 */
export function checkCrossings({ server, catalog, keys, gateway }: Files, reporter: (file: string) => Report): void {
  const secrets = new Secrets(keys);
  secrets.add(server, OWN);
  for (const key of keys?.keys ?? []) secrets.add(key.key, `the gateway key \`${key.id}\``);
  for (const entry of catalog?.providers ?? []) secrets.add(entry, `a credential of @${entry.slug}`);
  if (server) checkServer(server, secrets, reporter('server.yaml'));
  const inCatalog = reporter('catalog.yaml');
  const vendors = new Map<string, CatalogEntry>();
  for (const [index, entry] of (catalog?.providers ?? []).entries()) {
    const report: Report = (problem) => inCatalog({ ...problem, path: ['providers', index, ...problem.path] });
    checkEntry(entry, secrets, report);
    checkVendor(entry, vendors, report);
  }
  for (const [id, file] of gateway) {
    checkParams(file, [], { secrets, report: reporter(`gateway/${id}.yaml`) });
  }
}

/** Its token opens what no caller may see, and nothing else that stands there is a secret: addresses to send traces to among it. */
function checkServer(file: ServerFile, secrets: Secrets, report: Report): void {
  walk(file, [], (path, text) => {
    const isSecret = text instanceof Secret;
    const owner = isSecret ? secrets.gatewayKey(text.reveal()) : secrets.ownerIn(text);
    if (owner === undefined) return;
    report({
      path,
      message: isSecret ? `this is ${owner}, which callers have` : `${owner} stands here, where it is no secret`,
    });
  });
}

/** A vendor's key at another vendor's own address is a slip; who has a server in front of several gives all of them one key. */
function checkVendor(entry: CatalogEntry, vendors: Map<string, CatalogEntry>, report: Report): void {
  if (entry.base_url !== undefined || !('api_key' in entry) || !entry.api_key) return;
  const value = entry.api_key.reveal();
  const other = vendors.get(value) ?? entry;
  vendors.set(value, other);
  if (other.provider === entry.provider || value.length < SHORTEST) return;
  const message = `this is the credential of @${other.slug} as well, which is another provider: one of them would get the other's`;
  report({ path: ['api_key'], message });
}

const SENT = ['default_params', 'override_params'] as const;

/** What a config puts into bodies. What it compares with, in its conditions, goes nowhere. */
function checkParams(
  file: GatewayFile | Target,
  path: JsonPath,
  place: { readonly secrets: Secrets; readonly report: Report },
): void {
  for (const key of SENT) {
    walk(file[key], [...path, key], (at, text) => {
      const owner = typeof text === 'string' ? place.secrets.ownerIn(text) : undefined;
      if (owner !== undefined)
        place.report({
          path: at,
          message: `${owner} stands here, where it is no secret and would be sent to upstreams`,
        });
    });
  }
  for (const [index, target] of (file.targets ?? []).entries()) checkParams(target, [...path, 'targets', index], place);
}

function checkEntry(entry: CatalogEntry, secrets: Secrets, report: Report): void {
  walk(entry, [], (path, text) => {
    if (text instanceof Secret) {
      const ours = secrets.gatewaysOwn(text.reveal());
      if (ours !== undefined) report({ path, message: `this is ${ours}, which never goes to an upstream` });
      return;
    }
    const owner = secrets.ownerIn(text);
    if (owner !== undefined)
      report({ path, message: `${owner} stands here, where it is no secret and would be sent to @${entry.slug}` });
  });
  // Google's name of whose quota it is: a project, which no caller may choose and every operator may.
  for (const name of Object.keys(('headers' in entry && entry.headers) || {})) {
    const lower = name.toLowerCase();
    if (!mayHoldCredential(lower) || lower === 'x-goog-user-project') continue;
    const message = `the header \`${name}\` may hold a credential: write it under secret_headers`;
    report({ path: ['headers', name], on: 'key', message });
  }
}

/** Every secret of the settings by its value, and whose it is. */
class Secrets {
  readonly #owners = new Map<string, string>();
  /** By their beginnings: a text is looked through once, however many there are. */
  readonly #byStart = new Map<string, string[]>();
  readonly #digests: ReadonlyMap<string, string>;

  constructor(keys: KeysFile | undefined) {
    const known = keys?.keys.filter(({ key, digest }) => key !== undefined || digest !== undefined) ?? [];
    this.#digests = new Map(known.map((key) => [keyDigest(key), `the gateway key \`${key.id}\``]));
  }

  add(settings: unknown, owner: string): void {
    walk(settings, [], (_, found) => {
      if (!(found instanceof Secret)) return;
      const value = found.reveal();
      if (value.length < SHORTEST || this.#owners.has(value)) return;
      for (const form of formsOf(value)) {
        this.#owners.set(form, owner);
        const start = form.slice(0, SHORTEST);
        this.#byStart.set(start, [...(this.#byStart.get(start) ?? []), form]);
      }
    });
  }

  gatewayKey(value: string): string | undefined {
    return this.#digests.get(digestOf(value));
  }

  /** What lets callers and operators into the gateway, and is no credential of an upstream. */
  gatewaysOwn(credential: string): string | undefined {
    return this.gatewayKey(credential) ?? (this.#owners.get(credential) === OWN ? OWN : undefined);
  }

  /** Whose secret stands in a text. */
  ownerIn(text: string): string | undefined {
    return this.#ownerIn(text) ?? (text.includes('%') ? this.#ownerIn(decoded(text)) : undefined);
  }

  #ownerIn(text: string): string | undefined {
    for (let at = 0; at + SHORTEST <= text.length; at += 1) {
      const value = this.#byStart.get(text.slice(at, at + SHORTEST))?.find((secret) => text.startsWith(secret, at));
      if (value !== undefined) return this.#owners.get(value);
    }
    for (const [key] of text.matchAll(GATEWAY_KEY)) {
      const owner = this.#digests.get(digestOf(key));
      if (owner !== undefined) return owner;
    }
    return undefined;
  }
}

/** As it is, and as it is written where bytes become letters. */
function formsOf(value: string): readonly string[] {
  const base64 = Buffer.from(value).toString('base64').replace(/=+$/, '');
  return [value, base64, base64.replaceAll('+', '-').replaceAll('/', '_')];
}

/** Of an address (RFC 3986, section 2.1); what is no such escape stays. */
const decoded = (text: string): string =>
  text.replaceAll(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

type Visit = (path: JsonPath, found: string | Secret) => void;

/** Texts, secrets and the keys of objects: a key may be a name that is sent. */
function walk(value: unknown, path: JsonPath, visit: Visit): void {
  if (typeof value === 'string' || value instanceof Secret) {
    visit(path, value);
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) walk(item, [...path, index], visit);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      visit([...path, key], key);
      walk(inner, [...path, key], visit);
    }
  }
}
