import type { CatalogEntry } from '../../../schemas/types.generated.ts';
import { warnOfRetirement } from '../../core/catalog/model-table/retirements.ts';
import { isObject } from '../../core/kernel/index.ts';
import type { Report } from '../../core/kernel/report.ts';
import { within, type Check } from '../../core/settings/checks/check.ts';
import { entryOfTarget, PARAMS, paramsOf, placeOf, routeWith } from '../../core/settings/checks/entries.ts';

/** Warns of models that their provider has ended, or ends soon, where a file names them: in a target, in the list of an entry, or as `@slug/model`. */
export const checkRetirements: Check = ({ catalog, inline, now }) => {
  if (!catalog || inline) return {};
  const entries = catalog.providers;
  const bySlug = new Map(entries.map((entry) => [`@${entry.slug}`, entry]));

  const warn = (entry: CatalogEntry | undefined, model: string, report: Report): void =>
    entry && warnOfRetirement(entry, model, now, report);

  function warnInside(value: unknown, report: Report): void {
    if (typeof value === 'string') {
      const slash = value.startsWith('@') ? value.indexOf('/') : 0;
      if (slash > 0) warn(bySlug.get(value.slice(0, slash)), value.slice(slash + 1), report);
    } else if (Array.isArray(value)) {
      for (const [index, inner] of value.entries()) warnInside(inner, within(report, index));
    } else if (isObject(value)) {
      for (const [key, inner] of Object.entries(value)) warnInside(inner, within(report, key));
    }
  }

  return {
    server: warnInside,
    catalog: warnInside,
    keys: warnInside,
    organization: warnInside,
    team: warnInside,
    entry(entry, report) {
      for (const [index, model] of (entry.models ?? []).entries()) warn(entry, model, within(report, 'models', index));
    },
    config: ({ file }, report) => warnInside(file, report),
    target(target, _, { nodes, report }) {
      for (const key of PARAMS) {
        const model = paramsOf(target.route, key)?.['model'];
        // With an `@` the file has it so, or an alias stands for it: `config` and `catalog` have seen either.
        if (typeof model !== 'string' || model.startsWith('@')) continue;
        const place = placeOf(key, ['model'], target, nodes);
        warn(entryOfTarget(routeWith(target.route, key), entries), model, within(report, ...place));
      }
    },
  };
};
