import type { PromptFile } from '../../../schemas/types.generated.ts';
import { warnOfRetirement } from '../../core/catalog/model-table/retirements.ts';
import type { Report } from '../../core/kernel/report.ts';
import { within, type CheckedSettings } from '../../core/settings/checks/check.ts';
import { checkProviderName, slugOf } from '../../core/settings/checks/names.ts';

/** Models name entries of the catalog, and those of the versions in use are not about to retire: older versions stay as they were released. */
export function checkModels({ versions, labels = {} }: PromptFile, settings: CheckedSettings, report: Report): void {
  const used = new Set([...Object.values(labels), Math.max(...Object.keys(versions).map(Number))]);
  for (const [number, { model = '' }] of Object.entries(versions)) {
    const slug = slugOf({ model });
    if (slug === undefined) continue;
    const at = within(report, 'versions', number, 'model');
    checkProviderName(slug, settings, atModel(at, slug, model));
    const entry = settings.catalog?.providers.find((one) => `@${one.slug}` === slug);
    if (entry && used.has(Number(number))) warnOfRetirement(entry, model.slice(slug.length + 1), settings.now, at);
  }
}

/** A suggested slug becomes a suggested model. */
const atModel =
  (report: Report, slug: string, model: string): Report =>
  ({ suggestion, ...problem }) =>
    report({ ...problem, ...(suggestion !== undefined && { suggestion: suggestion + model.slice(slug.length) }) });
