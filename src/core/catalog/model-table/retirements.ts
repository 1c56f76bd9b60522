import type { CatalogEntry } from '../../../../schemas/types.generated.ts';
import type { Report } from '../../kernel/report.ts';
import { knownModel, type Retirement } from './model-table.ts';

/** Anthropic, with the shortest notice among the vendors for models in general use, gives 60 days (platform.claude.com, model deprecations). */
const NOTICE_MS = 60 * 86_400_000;

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** A model that its provider has ended, or ends within the notice. */
export interface NearRetirement extends Retirement {
  readonly past: boolean;
}

/** @param now milliseconds since 1970 */
export function nearRetirement(entry: CatalogEntry, model: string, now: number): NearRetirement | undefined {
  const found = retirementOf(entry, model);
  return found && found.day <= dayOf(now + NOTICE_MS) ? { ...found, past: found.day < dayOf(now) } : undefined;
}

/** Reports it at the place that names the model. */
export function warnOfRetirement(entry: CatalogEntry, model: string, now: number, report: Report): void {
  const found = nearRetirement(entry, model, now);
  if (!found) return;
  const { day, past, successor } = found;
  const then = successor === undefined ? '' : `, successor ${successor}`;
  report({ path: [], severity: 'warning', message: `${model} ${past ? 'retired on' : 'retires'} ${day}${then}` });
}

/** Undefined where no day is known, as of a server at an address of its own. Google's own names may have a publisher before them. */
export function retirementOf(entry: CatalogEntry, model: string): Retirement | undefined {
  const { provider } = entry;
  if (provider !== 'azure-openai' && 'base_url' in entry && entry.base_url !== undefined) return undefined;
  const known = knownModel(provider, model) ?? knownModel(provider, model.slice(model.lastIndexOf('/') + 1));
  return known?.retires;
}
