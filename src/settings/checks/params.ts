import type { GatewayFile, Target as TargetFile } from '../../../schemas/types.generated.ts';
import { showValue } from '../problems/show.ts';
import type { ReportPlace } from './report-place.ts';

/** What every request of a kind must have; the gateway itself reads the model of all of them. */
const NEEDED: ReadonlySet<string> = new Set(['messages', 'input', 'prompt']);

/** Parameters as they are written at one place, whatever upstream they are for. */
export function checkParams(file: GatewayFile | TargetFile, { path, report }: ReportPlace): void {
  checkModel(file.override_params, { path: [...path, 'override_params', 'model'], report });
  checkModel(file.default_params, { path: [...path, 'default_params', 'model'], report });
  for (const [index, field] of (file.drop_params ?? []).entries()) {
    const at = { path: [...path, 'drop_params', index] };
    if (field === 'model') report({ ...at, message: 'without its `model` a request goes nowhere' });
    else if (NEEDED.has(field))
      report({ ...at, severity: 'warning', message: `requests that need \`${field}\` are refused without it` });
    else if (/[[\]]/.test(field))
      report({
        ...at,
        severity: 'warning',
        message: 'dots lead into objects only: nothing inside a list can be named',
      });
    else if (isSet(file.override_params, field.split('.')))
      report({
        ...at,
        severity: 'warning',
        message: `\`override_params\` sets \`${field}\`, which is taken out again`,
      });
  }
}

type CheckedParams = Readonly<Record<string, unknown>>;

function checkModel(params: CheckedParams | undefined, { path, report }: ReportPlace): void {
  if (!params || !Object.hasOwn(params, 'model')) return;
  const { model } = params;
  if (typeof model === 'string' && model !== '') return;
  // As a default it says nothing.
  if (model === null && path.includes('default_params')) return;
  const message =
    model === null
      ? '`model: null` takes the model out of the request, and without one it goes nowhere'
      : `\`model\` must be the name of a model, not ${showValue(model, undefined)}`;
  report({ path, message });
}

function isSet(params: unknown, [key, ...inner]: readonly string[]): boolean {
  if (key === undefined) return params !== null;
  if (typeof params !== 'object' || params === null || !Object.hasOwn(params, key)) return false;
  return isSet(Reflect.get(params, key), inner);
}
