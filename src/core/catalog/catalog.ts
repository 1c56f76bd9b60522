import type { CatalogEntry as EntrySettings, CatalogFile } from '../../../schemas/types.generated.ts';
import type { DefaultMaxTokens } from '../../formats/request-target.ts';
import { readTimeouts } from '../kernel/timeouts.ts';
import type { Problem } from '../kernel/report.ts';
import type { TimeoutSettings } from '../kernel/index.ts';
import type { OpenableEntry, ProviderSetup } from '../providers/definition.ts';
import { providerOf } from '../providers/index.ts';
import type { ProviderEntry, ProviderName } from '../providers/provider.ts';
import { compileAliases, type Aliases } from './aliases.ts';
import { FieldRules, compileFields } from './fields/field-rules.ts';
import { Globs } from './globs.ts';

/** One entry of catalog.yaml, compiled: the provider's part, and the settings that the catalog itself applies. */
export interface CatalogEntry {
  readonly provider: ProviderEntry;
  /** `@slug` */
  readonly name: string;
  /** Models the entry may serve; undefined: all. */
  readonly models: Globs | undefined;
  /** Undefined: the server's limit. */
  readonly connections: number | undefined;
  readonly timeouts: TimeoutSettings;
  /** Treatment of a token count that the upstream does not have. Undefined: it is refused. */
  readonly count?: 'estimate' | 'refuse' | undefined;
  /** Undefined: the known models. */
  readonly inlineThinking?: InlineThinkers | undefined;
  /** Undefined: `model`. */
  readonly defaultMaxTokens?: DefaultMaxTokens | undefined;
  /** Undefined: every field passes. */
  readonly fields?: FieldRules | undefined;
}

/** The providers that requests may be sent to. Part of a snapshot: never changes. */
export interface Catalog {
  readonly entries: readonly CatalogEntry[];
  readonly bySlug: ReadonlyMap<string, CatalogEntry>;
  readonly byProvider: ReadonlyMap<ProviderName, readonly CatalogEntry[]>;
  readonly aliases: Aliases;
  /** Starts what entries need, before the snapshot goes live. @param which Default: all */
  open(which?: (entry: ProviderEntry) => boolean): Promise<void>;
}

/** Reports all problems, with paths from the file's root, and skips entries with problems. Does no I/O. */
export function compileCatalog(file: CatalogFile, setup: ProviderSetup): Catalog {
  const bySlug = new Map<string, CatalogEntry>();
  const slugs = new Set<string>();
  const openable: OpenableEntry[] = [];
  for (const [index, settings] of file.providers.entries()) {
    const report = (problem: Problem) => setup.report({ ...problem, path: ['providers', index, ...problem.path] });
    if (slugs.has(settings.slug)) {
      const why = settings.slug === settings.provider ? ', which an entry without `slug` takes from its provider' : '';
      report({ path: ['slug'], message: `another entry already has the slug ${JSON.stringify(settings.slug)}${why}` });
      continue;
    }
    slugs.add(settings.slug);
    const provider = providerOf(settings).create(settings, { ...setup, report });
    if (!provider) continue;
    openable.push(provider);
    bySlug.set(settings.slug, compileEntry(settings, provider));
  }
  const entries = [...bySlug.values()];
  return {
    entries,
    bySlug,
    aliases: compileAliases(file),
    byProvider: Map.groupBy(entries, ({ provider }) => provider.provider),
    async open(which = () => true) {
      await Promise.all(openable.filter(which).map((entry) => entry.open?.()));
    },
  };
}

function compileEntry(settings: EntrySettings, provider: ProviderEntry): CatalogEntry {
  const fields = compileFields(settings.fields);
  return {
    provider,
    name: `@${settings.slug}`,
    models: settings.models && new Globs(settings.models),
    connections: settings.connections,
    timeouts: readTimeouts(settings.timeouts ?? {}),
    count: 'count' in settings ? settings.count : undefined,
    inlineThinking:
      'inline_thinking' in settings && settings.inline_thinking
        ? new InlineThinkers(settings.inline_thinking)
        : undefined,
    defaultMaxTokens: 'default_max_tokens' in settings ? settings.default_max_tokens : undefined,
    fields: fields && new FieldRules(fields, `@${settings.slug}`),
  };
}

/** Models that often leave `<think>…</think>` in the answer (docs/protocols/replies.md#inline-thoughts), by default. */
export const KNOWN_INLINE_THINKERS: readonly string[] = [
  '*deepseek-r1*',
  '*qwq-*',
  '*qwen3-*',
  '*sonar-reasoning*',
  '*minimax-m*',
];

/** The models of an entry that may begin their answers with their chain of thought. Case does not count. */
export class InlineThinkers {
  readonly #names: Globs;

  constructor(patterns: readonly string[]) {
    this.#names = new Globs(patterns.map((pattern) => pattern.toLowerCase()));
  }

  has(model: string): boolean {
    return this.#names.matches(model.toLowerCase());
  }
}

export const knownInlineThinkers = new InlineThinkers(KNOWN_INLINE_THINKERS);
