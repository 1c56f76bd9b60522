import type { PromptFile } from '../../../schemas/types.generated.ts';
import type { Report } from '../../core/kernel/report.ts';
import { within, type CheckedSettings } from '../../core/settings/checks/check.ts';
import { checkProviderName, slugOf } from '../../core/settings/checks/names.ts';

/** Models name entries of the catalog. */
export function checkModels({ versions }: PromptFile, settings: CheckedSettings, report: Report): void {
  for (const [number, { model }] of Object.entries(versions)) {
    const slug = slugOf({ model });
    if (slug !== undefined)
      checkProviderName(slug, settings, atModel(within(report, 'versions', number, 'model'), slug, model ?? ''));
  }
}

/** A suggested slug becomes a suggested model. */
const atModel =
  (report: Report, slug: string, model: string): Report =>
  ({ suggestion, ...problem }) =>
    report({ ...problem, ...(suggestion !== undefined && { suggestion: suggestion + model.slice(slug.length) }) });
