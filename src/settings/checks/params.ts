import type { GatewayFile, Target as TargetFile } from '../../../schemas/types.generated.ts';
import { showValue } from '../problems/show.ts';
import type { ReportPlace } from './report-place.ts';

/** Fields that an operation requires. `model` is checked apart: the gateway itself needs it for every operation. */
const NEEDED: ReadonlySet<string> = new Set(['messages', 'input', 'prompt']);

/** Checks the parameters that one node of the config writes, independent of the upstream. */
export function checkParams(file: GatewayFile | TargetFile, { path, report }: ReportPlace): void {
  checkModel(file.override_params, { path: [...path, 'override_params', 'model'], report });
  checkModel(file.default_params, { path: [...path, 'default_params', 'model'], report });
  for (const [index, field] of (file.drop_params ?? []).entries()) {
    const at = { path: [...path, 'drop_params', index] };
    if (field === 'model') report({ ...at, message: 'a request cannot be sent without its `model`' });
    else if (NEEDED.has(field))
      report({
        ...at,
        severity: 'warning',
        message: `operations that require \`${field}\` refuse requests without it`,
      });
    else if (/[[\]]/.test(field))
      report({
        ...at,
        severity: 'warning',
        message: 'dots select keys of objects only: a field inside a list cannot be named',
      });
    else if (isSet(file.override_params, field.split('.')))
      report({
        ...at,
        severity: 'warning',
        message: `\`override_params\` sets \`${field}\`, and \`drop_params\` removes it again`,
      });
  }
}

type CheckedParams = Readonly<Record<string, unknown>>;

function checkModel(params: CheckedParams | undefined, { path, report }: ReportPlace): void {
  if (!params || !Object.hasOwn(params, 'model')) return;
  const { model } = params;
  if (typeof model === 'string' && model !== '') return;
  // In `default_params` a null has no effect.
  if (model === null && path.includes('default_params')) return;
  const message =
    model === null
      ? '`model: null` removes the model from the request, which cannot be sent without one'
      : `\`model\` must be the name of a model, not ${showValue(model, undefined)}`;
  report({ path, message });
}

function isSet(params: unknown, [key, ...inner]: readonly string[]): boolean {
  if (key === undefined) return params !== null;
  if (typeof params !== 'object' || params === null || !Object.hasOwn(params, key)) return false;
  return isSet(Reflect.get(params, key), inner);
}
