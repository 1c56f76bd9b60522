import type { PromptFile } from '../../../../schemas/types.generated.ts';
import { Globs } from '../../../core/catalog/globs.ts';
import { nearest, type Report } from '../../../plugin/index.ts';
import { checkPartials, checkPrompt, type ReportPartial } from '../check.ts';
import { compilePartials } from '../compile.ts';
import { LATEST } from '../library.ts';
import { within, type Check, type CheckedSettings } from '../../../core/settings/checks/check.ts';
import { checkProviderName, slugOf, withSuggestion } from '../../../core/settings/checks/names.ts';

export interface PromptSettings {
  readonly prompts: ReadonlyMap<string, PromptFile>;
  /** Text by name. */
  readonly partials: ReadonlyMap<string, string>;
}

/** Checks the prompts: their templates, variables and versions, and the models that they name. */
export function checkPrompts(
  { prompts, partials: texts }: PromptSettings,
  settings: CheckedSettings,
  reports: { readonly reporter: (file: string) => Report; readonly partial: ReportPartial },
): void {
  if (prompts.size === 0 && texts.size === 0) return;
  const partials = compilePartials(texts);
  checkPartials(partials, reports.partial);
  for (const [id, file] of prompts) {
    const report = reports.reporter(`prompts/${id}.yaml`);
    checkPrompt(id, file, partials, { report, partial: reports.partial });
    for (const [number, { model }] of Object.entries(file.versions)) {
      const slug = slugOf({ model });
      if (slug !== undefined)
        checkProviderName(slug, settings, atModel(within(report, 'versions', number, 'model'), slug, model ?? ''));
    }
  }
}

/** A suggested slug becomes a suggested model. */
const atModel =
  (report: Report, slug: string, model: string): Report =>
  ({ suggestion, ...problem }) =>
    report({ ...problem, ...(suggestion !== undefined && { suggestion: suggestion + model.slice(slug.length) }) });

/** Checks the names of prompts in gateway configs and keys. */
export const checkPromptNames: Check = ({ prompts, promptIds = [], inline }) => ({
  config({ file }, report) {
    // A config sent with a request is checked when the prompt is looked up.
    if (inline) return;
    for (const [id, version] of Object.entries(file.prompts ?? {})) {
      const prompt = prompts?.get(id);
      const path = ['prompts', id];
      if (!promptIds.includes(id))
        report({ path, on: 'key', message: `there is no prompts/${id}.yaml`, ...withSuggestion(id, promptIds) });
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
    for (const [index, pattern] of allowed.entries()) {
      const globs = new Globs([pattern]);
      if (promptIds.some((name) => globs.matches(name))) continue;
      const path = ['prompts', index];
      if (pattern.includes('*')) report({ path, severity: 'warning', message: `no prompt matches ${pattern}` });
      else report({ path, message: `there is no prompts/${pattern}.yaml`, ...withSuggestion(pattern, promptIds) });
    }
  },
});

function hasVersion({ versions, labels = {} }: PromptFile, version: number | string): boolean {
  if (version === LATEST || Object.hasOwn(versions, String(version))) return true;
  return Object.hasOwn(labels, String(version));
}
