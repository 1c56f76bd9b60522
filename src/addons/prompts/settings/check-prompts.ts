import type { PromptFile } from '../../../../schemas/types.generated.ts';
import { Globs } from '../../../core/catalog/globs.ts';
import { nearest } from '../../../core/kernel/index.ts';
import type { Report } from '../../../core/kernel/report.ts';
import { checkPartials, checkPrompt, type ReportPartial } from '../check.ts';
import { compilePartials } from '../compile.ts';
import { LATEST } from '../library.ts';
import { partialDiagnostic } from './partials.ts';
import { partialTexts, promptFilesOf } from '../prompt-files.ts';
import { within, type Check } from '../../../core/settings/checks/check.ts';
import { checkProviderName, slugOf, withSuggestion } from '../../../core/settings/checks/names.ts';

/** Checks the prompts: their templates, variables and versions, and the models that they name. */
export const checkPrompts: Check = (settings) => ({
  others({ reporter, add }) {
    const files = promptFilesOf(settings);
    const { prompts } = files;
    if (prompts.size === 0 && files.partials.size === 0) return;
    const partial: ReportPartial = (name, at, message, suggestion) => {
      const file = files.partials.get(name);
      if (file) add([partialDiagnostic(file, { at, message, ...(suggestion !== undefined && { suggestion }) })]);
    };
    const partials = compilePartials(partialTexts(files));
    checkPartials(partials, partial);
    for (const [id, file] of prompts) {
      const report = reporter(`prompts/${id}.yaml`);
      checkPrompt(id, file, partials, { report, partial });
      for (const [number, { model }] of Object.entries(file.versions)) {
        const slug = slugOf({ model });
        if (slug !== undefined)
          checkProviderName(slug, settings, atModel(within(report, 'versions', number, 'model'), slug, model ?? ''));
      }
    }
  },
});

/** A suggested slug becomes a suggested model. */
const atModel =
  (report: Report, slug: string, model: string): Report =>
  ({ suggestion, ...problem }) =>
    report({ ...problem, ...(suggestion !== undefined && { suggestion: suggestion + model.slice(slug.length) }) });

/** Checks the names of prompts in gateway configs and keys. */
export const checkPromptNames: Check = (settings) => ({
  config({ file }, report) {
    // A config sent with a request is checked when the prompt is looked up.
    if (settings.inline) return;
    const { prompts, ids } = promptFilesOf(settings);
    for (const [id, version] of Object.entries(file.prompts ?? {})) {
      const prompt = prompts.get(id);
      const path = ['prompts', id];
      if (!ids.includes(id))
        report({ path, on: 'key', message: `there is no prompts/${id}.yaml`, ...withSuggestion(id, ids) });
      else if (prompt && !hasVersion(prompt, version)) {
        const labels = Object.keys(prompt.labels ?? {});
        const suggestion = typeof version === 'string' ? nearest(version, [...labels, LATEST]) : undefined;
        report({
          path,
          message: `prompts/${id}.yaml has no version or label \`${version}\``,
          ...(suggestion !== undefined && { suggestion }),
        });
      }
    }
  },
  key({ prompts: allowed = [] }, report) {
    const { ids } = promptFilesOf(settings);
    for (const [index, pattern] of allowed.entries()) {
      const globs = new Globs([pattern]);
      if (ids.some((name) => globs.matches(name))) continue;
      const path = ['prompts', index];
      if (pattern.includes('*')) report({ path, severity: 'warning', message: `no prompt matches ${pattern}` });
      else report({ path, message: `there is no prompts/${pattern}.yaml`, ...withSuggestion(pattern, ids) });
    }
  },
});

function hasVersion({ versions, labels = {} }: PromptFile, version: number | string): boolean {
  if (version === LATEST || Object.hasOwn(versions, String(version))) return true;
  return Object.hasOwn(labels, String(version));
}
