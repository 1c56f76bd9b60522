import type { CatalogEntry as EntryFile, CatalogFile } from '../../../../schemas/types.generated.ts';
import { compileCatalog, type Catalog } from '../../../catalog/catalog.ts';
import { Secret, type Clock } from '../../../plugin/index.ts';
import type { ServerSettings } from '../../../settings/compile/server-settings.ts';
import type { ProviderEntry } from '../../../providers/provider.ts';
import { TokenStore } from '../../../state/memory/tokens.ts';
import { NO_UPSTREAM } from '../fakes.ts';
import { mark } from './marks.ts';

/** Gives every credential a token that says whose it is, and asks nobody. */
class MarkedTokens extends TokenStore {
  override get(key: string): string {
    return mark(tokenMark(key));
  }
}

/**
 * The catalog as it is compiled to serve, with a mark in the place of each credential. What its entries would find only when they are
 * opened (credentials of the machine) is not looked for.
 */
export function markedCatalog(file: CatalogFile, { server, clock }: { server: ServerSettings; clock: Clock }): Catalog {
  return compileCatalog(
    { ...file, providers: file.providers.map(withMarks) },
    {
      upstreamExchange: NO_UPSTREAM.exchange,
      clock,
      tokens: new MarkedTokens(clock),
      tokenFetched() {},
      env: {},
      tokenUris: new Set(server.egress.tokenUris),
      // The catalog that serves tells its own mistakes.
      report() {},
    },
  );
}

// No name of a header has a slash in it.
const ENTRY = 'credential/@';
const TOKEN = 'token/';
const entryMark = (slug: string): string => `${ENTRY}${slug}`;
const tokenMark = (key: string): string => `${TOKEN}${key}`;

/** Whose credential a mark stands for; undefined where it is no credential's. */
export function ownerOf(name: string): { is(entry: Pick<ProviderEntry, 'slug' | 'tokenKey'>): boolean } | undefined {
  if (name.startsWith(ENTRY)) return { is: ({ slug }) => entryMark(slug) === name };
  // Entries that have one credential have one token.
  if (name.startsWith(TOKEN)) return { is: ({ tokenKey }) => tokenKey !== undefined && tokenMark(tokenKey) === name };
  return undefined;
}

/** Of credentials that are a text; others are documents, from which tokens are made. */
function withMarks(entry: EntryFile): EntryFile {
  const secret = new Secret(mark(entryMark(entry.slug)));
  let marked = entry;
  if ('api_key' in marked && marked.api_key) marked = { ...marked, api_key: secret };
  if ('secret_headers' in marked && marked.secret_headers)
    marked = {
      ...marked,
      secret_headers: Object.fromEntries(Object.keys(marked.secret_headers).map((name) => [name, secret])),
    };
  return marked;
}
