import type { GatewayFile } from '../../../../schemas/types.generated.ts';
import { isObject } from '../../kernel/index.ts';
import type { Report } from '../../kernel/report.ts';
import type { JsonPath } from '../schema/pointer.ts';

// Portkey's gateway configs use other spellings for some keys. schemas/gateway.json has them, marked `deprecated`. Only this
// file translates them; all later code sees one spelling.

const RENAMED: ReadonlyMap<string, string> = new Map([
  ['overrideParams', 'override_params'],
  ['forwardHeaders', 'forward_headers'],
  ['requestTimeout', 'request_timeout'],
  ['strictOpenAiCompliance', 'strict_open_ai_compliance'],
  ['onStatusCodes', 'on_status_codes'],
  ['maxAge', 'max_age'],
  ['virtual_key', 'provider'],
  ['virtualKey', 'provider'],
]);

/** Keys without effect: the gateway always honours the upstream's retry-after. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set(['use_retry_after_header', 'useRetryAfterHeader']);

/** Keys whose value has keys of the schema; the content of other objects (override_params) is the operator's own. */
const NESTED: ReadonlySet<string> = new Set(['strategy', 'retry', 'cache']);

/** A validated config in the schema's spellings; a warning for each of Portkey's, an error for both of one key. */
export function inOurSpelling(file: unknown, report: Report): GatewayFile {
  // The schema has both spellings of each key, the type only ours.
  return respell(file, [], report) as GatewayFile;
}

function respell(value: unknown, path: JsonPath, report: Report): unknown {
  if (!isObject(value)) return value;
  const respelt = Object.entries(value).flatMap(([key, inner]): [string, unknown][] => {
    const at = [...path, key];
    const ours = RENAMED.get(key);
    if (WITHOUT_EFFECT.has(key)) {
      note(report, at, `\`${key}\` is Portkey's; the upstream's retry-after always decides here: remove the key`);
      return [];
    }
    if (ours === undefined) return [[key, inside(key, inner, at, report)]];
    const slug = ours === 'provider';
    if (Object.hasOwn(value, ours))
      report({ path: at, on: 'key', message: `\`${key}\` and \`${ours}\` are the same setting; keep one` });
    else
      note(report, at, `\`${key}\` is Portkey's spelling: write ${slug ? `\`provider: "@…"\`` : `\`${ours}\``} here`);
    return [[ours, slug ? `@${String(inner)}` : inner]];
  });
  return Object.fromEntries(respelt);
}

function inside(key: string, value: unknown, path: JsonPath, report: Report): unknown {
  if (key === 'targets' && Array.isArray(value))
    return value.map((target, index) => respell(target, [...path, index], report));
  if (!NESTED.has(key)) return value;
  if (key === 'cache' && isObject(value) && value['mode'] === 'simple') {
    const at = [...path, 'mode'];
    report({ path: at, severity: 'warning', message: "`simple` is Portkey's word: write `exact` here" });
    return respell({ ...value, mode: 'exact' }, path, report);
  }
  return respell(value, path, report);
}

const note = (report: Report, path: JsonPath, message: string): void =>
  report({ path, on: 'key', severity: 'warning', message });

/** The path in the spellings of the file. @param written its values before they were respelt */
export function asWritten(path: JsonPath, written: unknown): JsonPath {
  const found: (string | number)[] = [];
  let at = written;
  for (const segment of path) {
    const key = isObject(at) && typeof segment === 'string' ? keyIn(at, segment) : segment;
    found.push(key);
    at = isObject(at) || Array.isArray(at) ? Reflect.get(at, key) : undefined;
  }
  return found;
}

function keyIn(object: object, ours: string): string {
  if (Object.hasOwn(object, ours)) return ours;
  const theirs = [...RENAMED].find(([key, name]) => name === ours && Object.hasOwn(object, key));
  return theirs?.[0] ?? ours;
}
