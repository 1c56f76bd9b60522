import type { CatalogEntry, GatewayFile, Target as TargetFile } from '../../../../schemas/types.generated.ts';
import { lostAt, mistakeIn } from '../../catalog/fields/param-doubts.ts';
import type { Report } from '../../kernel/report.ts';
import { showValue } from '../values/show.ts';
import { providerOf } from '../../providers/index.ts';
import type { Check, CheckedConfig } from './check.ts';
import { entryOfTarget, PARAMS, type ParamsKey } from './entries.ts';

/** Fields that an operation requires. `model` is checked apart: the gateway itself needs it for every operation. */
const NEEDED: ReadonlySet<string> = new Set(['messages', 'input', 'prompt']);

/** Checks the parameters that one node of the config writes, independent of the upstream. */
export const checkParams: Check = ({ catalog }) => ({
  config: (config) => checkLosses(config, catalog?.providers),
  node({ file }, report) {
    for (const key of PARAMS) {
      checkModel(file, key, report);
      checkValues(file, key, report);
    }
    for (const [index, field] of (file.drop_params ?? []).entries()) {
      const path = ['drop_params', index];
      if (field === 'model') report({ path, message: 'a request cannot be sent without its `model`' });
      const doubt = doubtAbout(field, file);
      if (doubt !== undefined) report({ path, severity: 'warning', message: doubt });
    }
  },
});

function doubtAbout(field: string, { override_params: overrides }: GatewayFile | TargetFile): string | undefined {
  if (field === 'model') return undefined;
  if (NEEDED.has(field)) return `operations that require \`${field}\` refuse requests without it`;
  if (/[[\]]/.test(field)) return 'dots select keys of objects only: a field inside a list cannot be named';
  if (isSet(overrides, field.split('.')))
    return `\`override_params\` sets \`${field}\`, and \`drop_params\` removes it again`;
  return undefined;
}

function checkModel(file: GatewayFile | TargetFile, key: ParamsKey, report: Report): void {
  const params = file[key];
  if (!params || !Object.hasOwn(params, 'model')) return;
  const { model } = params;
  if (typeof model === 'string' && model !== '') return;
  // In `default_params` a null has no effect.
  if (model === null && key === 'default_params') return;
  const message =
    model === null
      ? '`model: null` removes the model from the request, which cannot be sent without one'
      : `\`model\` must be the name of a model, not ${showValue(model, undefined)}`;
  report({ path: [key, 'model'], message });
}

/** A value that the API of its name does not have: every request with it is refused. */
function checkValues(file: GatewayFile | TargetFile, key: ParamsKey, report: Report): void {
  for (const [name, value] of Object.entries(file[key] ?? {})) {
    if (value === null) continue;
    const mistake = mistakeIn(name, value);
    if (mistake !== undefined)
      report({ path: [key, name], severity: 'warning', message: `requests are refused: ${mistake}` });
  }
}

/** Parameters that a target leaves out, once at the place that sets each. */
function checkLosses({ targets, nodes, report }: CheckedConfig, entries: readonly CatalogEntry[] | undefined): void {
  const told = new Set<string>();
  for (const { route, path } of targets) {
    const entry = entryOfTarget(route, entries);
    const { model } = route.overrideParams ?? {};
    const name = typeof model === 'string' ? model.replace(/^@[^/]*\//, '') : '';
    const spoken = entry && providerOf(entry).speaks(entry, name);
    if (!spoken) continue;
    const around = nodes.filter((node) => node.path.every((segment, index) => path[index] === segment));
    for (const key of PARAMS) {
      for (const [param, value] of Object.entries(
        route[key === 'override_params' ? 'overrideParams' : 'defaultParams'] ?? {},
      )) {
        const writer = around.findLast(({ file }) => isSet(file[key], [param]));
        if (!writer || value === null) continue;
        const reason = lostAt(param, value, name, spoken);
        const at = [...writer.path, key, param];
        if (reason === undefined || told.has(at.join('\n'))) continue;
        told.add(at.join('\n'));
        const message = `\`${param}\` is left out of requests to @${entry.slug}: ${reason}`;
        report({ path: at, on: 'key', severity: 'warning', message });
      }
    }
  }
}

function isSet(params: unknown, [key, ...inner]: readonly string[]): boolean {
  if (key === undefined) return params !== null;
  if (typeof params !== 'object' || params === null || !Object.hasOwn(params, key)) return false;
  return isSet(Reflect.get(params, key), inner);
}
