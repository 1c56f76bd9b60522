import { Globs } from '../../../core/catalog/globs.ts';
import { checkModels } from '../check-models.ts';
import { checkPartials, checkPrompt, type ReportPartial } from '../check.ts';
import { compilePartials } from '../compile.ts';
import { LATEST } from '../library.ts';
import { partialDiagnostic, partialTexts, promptFilesOf } from '../prompt-files.ts';
import { storedName } from '../../../core/settings/source/stored-objects.ts';
import type { Check } from '../../../core/settings/checks/check.ts';
import { withSuggestion } from '../../../core/settings/checks/names.ts';

/** Checks the prompts: their templates, variables and versions, and the models that they name. */
export const checkPrompts: Check = (settings) => ({
  others({ reporter, add }) {
    const files = promptFilesOf(settings);
    const { prompts } = files;
    if (prompts.size === 0 && files.partials.size === 0) return;
    const partial: ReportPartial = (name, mistake) => {
      const file = files.partials.get(name);
      if (file) add([partialDiagnostic(file, mistake)]);
    };
    const partials = compilePartials(partialTexts(files));
    checkPartials(partials, partial);
    for (const [id, file] of prompts) {
      // An object of the store must not keep a gateway from its start.
      if (files.stored.has(id)) {
        const report = reporter(storedName({ kind: 'prompts', id }));
        checkModels(file, settings, (problem) => report({ ...problem, severity: 'warning' }));
        continue;
      }
      const report = reporter(`prompts/${id}.yaml`);
      checkPrompt(id, file, partials, { report, partial });
      checkModels(file, settings, report);
    }
  },
});

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
      else if (prompt) {
        const labels = [...Object.keys(prompt.labels ?? {}), LATEST];
        if ([...Object.keys(prompt.versions), ...labels].includes(String(version))) continue;
        const message = `prompts/${id}.yaml has no version or label \`${version}\``;
        report({ path, message, ...(typeof version === 'string' && withSuggestion(version, labels)) });
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
