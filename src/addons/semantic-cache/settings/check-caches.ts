import type { CacheSettings, CatalogEntry } from '../../../../schemas/types.generated.ts';
import { Globs } from '../../../core/catalog/globs.ts';
import { parseDuration } from '../../../core/kernel/units.ts';
import type { Report } from '../../../core/kernel/report.ts';
import { providerOf } from '../../../core/providers/index.ts';
import { showValue } from '../../../core/settings/values/show.ts';
import { within, type Check, type ConfigNode } from '../../../core/settings/checks/check.ts';
import { slugsOf, withSuggestion } from '../../../core/settings/checks/names.ts';
import { checkUnit } from '../../../core/settings/checks/times.ts';

const SEMANTIC_KEYS = ['embeddings', 'threshold', 'timeout'] as const;

/** Checks caches that compare by meaning: they need a catalog entry and a model that makes vectors. */
export const checkCaches: Check = ({ catalog }) => ({
  node(node, atNode, { nodes }) {
    const { cache } = node.file;
    if (!cache) return;
    const report = within(atNode, 'cache');
    if (cache.mode === 'semantic') return checkSemantic(cache, node, { nodes, entries: catalog?.providers, report });
    for (const key of SEMANTIC_KEYS) {
      if (cache[key] === undefined) continue;
      const message = `\`${key}\` has no effect with \`mode: ${cache.mode}\`; it belongs to \`mode: semantic\``;
      report({ path: [key], on: 'key', severity: 'warning', message });
    }
  },
});

interface Around {
  readonly nodes: readonly ConfigNode[];
  /** Undefined: names of entries are not checked. */
  readonly entries: readonly CatalogEntry[] | undefined;
  readonly report: Report;
}

function checkSemantic(cache: CacheSettings, node: ConfigNode, { nodes, entries, report }: Around): void {
  const { embeddings, timeout } = cache;
  if (timeout !== undefined && parseDuration(timeout) === 0)
    report({ path: ['timeout'], message: '`timeout: 0` leaves no time for any vector; leave it out for the default' });
  else checkUnit('timeout', timeout, report, 10);
  if (embeddings !== undefined) return checkEmbeddings(embeddings, entries, within(report, 'embeddings'));
  if (inheritsEmbeddings(node, nodes)) return;
  const message =
    '`mode: semantic` needs `embeddings`: the catalog entry and model that make vectors of texts, such as "@openai/text-embedding-3-small"';
  report({ path: ['mode'], message });
}

/** The nearest `cache` around is semantic and has, or inherits, `embeddings`. */
function inheritsEmbeddings({ path }: ConfigNode, nodes: readonly ConfigNode[]): boolean {
  const around = nodes.filter(
    (other) => other.path.length < path.length && other.path.every((segment, index) => path[index] === segment),
  );
  for (const { file } of around.toReversed()) {
    if (!file.cache) continue;
    if (file.cache.mode !== 'semantic') return false;
    if (file.cache.embeddings !== undefined) return true;
  }
  return false;
}

function checkEmbeddings(embeddings: string, entries: readonly CatalogEntry[] | undefined, report: Report): void {
  if (!entries) return;
  const slash = embeddings.indexOf('/');
  const [name, model] = [embeddings.slice(0, slash), embeddings.slice(slash + 1)];
  const entry = entries.find(({ slug }) => `@${slug}` === name);
  if (!entry) {
    report({ path: [], message: `there is no catalog entry ${name}`, ...withSuggestion(name, slugsOf(entries)) });
    return;
  }
  if (entry.models && !new Globs(entry.models).matches(model))
    return report({ path: [], message: `${name} does not serve the model ${showValue(model, undefined)}` });
  const provider = providerOf(entry);
  const tasks = provider.tasksOf(entry, model);
  if (tasks && !tasks.has('embeddings'))
    return report({ path: [], message: `the model ${showValue(model, undefined)} of ${name} makes no embeddings` });
  if (!provider.needsCallerToken(entry)) return;
  const message = `${name} has no credentials of its own: only requests that bring a token for it in \`Authorization\` get near replies`;
  report({ path: [], severity: 'warning', message });
}
