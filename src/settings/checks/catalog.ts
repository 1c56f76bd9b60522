import type { CatalogEntry, CatalogFile } from '../../../schemas/types.generated.ts';
import { Globs } from '../../catalog/globs.ts';
import { readTimeouts, type Report } from '../../plugin/index.ts';
import { readBase } from '../../providers/entry-settings.ts';
import { PROVIDERS } from '../../providers/index.ts';
import { checkFieldRules } from './fields.ts';
import type { KnownNames } from './known.ts';
import { isLocalHost, offLimits } from './local-host.ts';
import { checkTimeouts, serverTimeouts } from './times.ts';

/** Does not check for duplicate slugs and credentials: the catalog reports those when it compiles the entries. */
export function checkCatalog({ providers }: CatalogFile, known: KnownNames, report: Report): void {
  const around = serverTimeouts(known.server);
  for (const [index, entry] of providers.entries()) {
    const path = ['providers', index];
    const reportHere: Report = (problem) => report({ ...problem, path: [...path, ...problem.path] });
    // The provider reports the same problem when the catalog is compiled; `sortDiagnostics` keeps one of the two.
    const base = readBase(entry, '', reportHere);
    if (base) checkHost(entry, reportHere);
    const effective = { ...around, ...readTimeouts(entry.timeouts ?? {}) };
    checkTimeouts(entry.timeouts, effective, { path: [...path, 'timeouts'], report });
    checkModels(entry, reportHere);
    checkFieldRules(entry.fields, { path: [...path, 'fields'], report });
  }
}

function checkHost({ base_url: baseUrl, allow_insecure: insecure }: CatalogEntry, report: Report): void {
  if (baseUrl === undefined) return;
  const { hostname } = new URL(baseUrl);
  const path = ['base_url'];
  const refused = offLimits(hostname);
  if (refused !== undefined) report({ path, message: `base_url is ${refused}` });
  else if (!insecure && isLocalHost(hostname))
    report({
      path,
      message: 'base_url is a loopback or private address: set allow_insecure: true if this is intended',
    });
}

/** Reports names in `models` that no request would use, and endpoints of the entry that `models` does not list. */
function checkModels(entry: CatalogEntry, report: Report): void {
  const { models } = entry;
  if (!models) return;
  for (const [index, model] of models.entries()) {
    PROVIDERS[entry.provider].checkParams(entry, { model }, (problem) => {
      // An item of `models` is a pattern, not a name: the errors about characters in names do not apply to it.
      if (problem.severity === 'warning') report({ ...problem, path: ['models', index] });
    });
  }
  const served = new Globs(models);
  for (const name of Object.keys((entry.provider === 'vertex-ai' && entry.endpoints) || {})) {
    if (served.matches(`endpoints.${name}`)) continue;
    const message = `\`models\` of this entry does not list \`endpoints.${name}\`, so no request can name it`;
    report({ path: ['endpoints', name], on: 'key', severity: 'warning', message });
  }
}
