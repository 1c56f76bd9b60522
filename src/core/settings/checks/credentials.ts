import type { CatalogEntry, GatewayFile, KeysFile, ServerFile, Target } from '../../../../schemas/types.generated.ts';
import { Secret } from '../../../plugin/index.ts';
import type { Report } from '../../kernel/report.ts';
import { digestOf, digestsOf } from '../compile/api-keys.ts';
import type { JsonPath } from '../schema/pointer.ts';
import type { Check } from './check.ts';
import { mayHoldCredential } from '../values/credential-names.ts';

/** Owner of the gateway's own secrets, such as the token of the admin listener. */
const OWN = 'a secret of server.yaml';

/** Shorter values are placeholders, not secrets, and occur in other text by chance: `none`, `EMPTY`. */
const SHORTEST = 8;

/** Keys made by `gatehouse keys create`. Their digest identifies them inside any text. */
const GATEWAY_KEY = /gatehouse_[a-z0-9]+_[\w-]{8,}/g;

/**
 * Reports credentials that the settings would send to the wrong upstream or show in clear: a secret of one entry that
 * also appears in a field that is not secret and is sent upstream. The comparison is by value, however the value got there.
 * A config sent with a request is not compared: the answer would tell its sender whether a guess is right.
 */
export const checkCredentials: Check = ({ server, catalog, keys, inline }) => {
  if (inline) return {};
  const secrets = new Secrets(keys);
  secrets.add(server, OWN);
  for (const key of keys?.keys ?? []) secrets.add(key.key, `the gateway key \`${key.id}\``);
  for (const entry of catalog?.providers ?? []) secrets.add(entry, `a credential of @${entry.slug}`);
  for (const [name, shared] of Object.entries(catalog?.credentials ?? {}))
    secrets.add(shared, `the shared credentials \`${name}\``);
  const vendors = new Map<string, CatalogEntry>();
  return {
    server: (file, report) => checkServer(file, secrets, report),
    entry(entry, report) {
      checkEntry(entry, secrets, report);
      checkVendor(entry, vendors, report);
    },
    node: ({ file }, report) => checkParams(file, secrets, report),
  };
};

/** The admin token opens data that no caller may see. Every other field of server.yaml is public, trace endpoints included. */
function checkServer(file: ServerFile, secrets: Secrets, report: Report): void {
  walk(file, [], (path, text) => {
    const isSecret = text instanceof Secret;
    const owner = isSecret ? secrets.gatewayKey(text.reveal()) : secrets.ownerIn(text);
    if (owner === undefined) return;
    report({
      path,
      message: isSecret
        ? `this is ${owner}, which callers know`
        : `${owner} appears here, in a field that is not secret`,
    });
  });
}

/** One credential for two vendors. An entry with a `base_url` may be a server in front of several vendors. */
function checkVendor(entry: CatalogEntry, vendors: Map<string, CatalogEntry>, report: Report): void {
  if (entry.base_url !== undefined || !('api_key' in entry) || !entry.api_key) return;
  const value = entry.api_key.reveal();
  const other = vendors.get(value) ?? entry;
  vendors.set(value, other);
  if (other.provider === entry.provider || value.length < SHORTEST) return;
  const message = `this is also the credential of @${other.slug}, an entry of another provider: one provider would receive the other's credential`;
  report({ path: ['api_key'], message });
}

const SENT = ['default_params', 'override_params'] as const;

/** Checks the fields that a config writes into bodies. Operands of its conditions are never sent. */
function checkParams(file: GatewayFile | Target, secrets: Secrets, report: Report): void {
  for (const key of SENT) {
    walk(file[key], [key], (path, text) => {
      const owner = typeof text === 'string' ? secrets.ownerIn(text) : undefined;
      if (owner === undefined) return;
      report({ path, message: `${owner} appears here, in a field that is not secret and is sent to upstreams` });
    });
  }
}

function checkEntry(entry: CatalogEntry, secrets: Secrets, report: Report): void {
  walk(entry, [], (path, text) => {
    if (text instanceof Secret) {
      const ours = secrets.gatewaysOwn(text.reveal());
      if (ours !== undefined) report({ path, message: `this is ${ours}, which must never be sent to an upstream` });
      return;
    }
    const owner = secrets.ownerIn(text);
    if (owner !== undefined)
      report({ path, message: `${owner} appears here, in a field that is not secret and is sent to @${entry.slug}` });
  });
  // `x-goog-user-project` names the project whose quota is used: an operator may set it, a caller may not.
  for (const name of Object.keys(('headers' in entry && entry.headers) || {})) {
    const lower = name.toLowerCase();
    if (!mayHoldCredential(lower) || lower === 'x-goog-user-project') continue;
    const message = `the header \`${name}\` may hold a credential: write it under secret_headers`;
    report({ path: ['headers', name], on: 'key', message });
  }
}

/** Finds the secrets of the settings in other text, and names the owner of each. */
class Secrets {
  readonly #owners = new Map<string, string>();
  /** Secrets by their first characters: one pass over a text finds any of them, however many there are. */
  readonly #byStart = new Map<string, string[]>();
  readonly #digests: ReadonlyMap<string, string>;

  constructor(keys: KeysFile | undefined) {
    const known = keys?.keys.filter(({ key, digest }) => key !== undefined || digest !== undefined) ?? [];
    this.#digests = new Map(
      known.flatMap((key) => digestsOf(key).map((digest) => [digest, `the gateway key \`${key.id}\``] as const)),
    );
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

  /** The owner of a credential that admits callers or operators to the gateway; undefined for an upstream's credential. */
  gatewaysOwn(credential: string): string | undefined {
    return this.gatewayKey(credential) ?? (this.#owners.get(credential) === OWN ? OWN : undefined);
  }

  /** The owner of the first secret found in a text, also percent-encoded. */
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

/** The value itself, in base64 and in base64url. */
function formsOf(value: string): readonly string[] {
  const base64 = Buffer.from(value).toString('base64').replace(/=+$/, '');
  return [value, base64, base64.replaceAll('+', '-').replaceAll('/', '_')];
}

/** Decodes percent-encoding (RFC 3986, section 2.1). Malformed escapes stay as they are. */
const decoded = (text: string): string =>
  text.replaceAll(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

/** Visits texts, secrets and the keys of objects: some keys, such as header names, are sent. */
function walk(value: unknown, path: JsonPath, visit: (path: JsonPath, found: string | Secret) => void): void {
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
