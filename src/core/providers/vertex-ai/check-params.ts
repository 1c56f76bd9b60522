import type { VertexEntry as VertexSettings } from '../../../../schemas/types.generated.ts';
import { RequestFault } from '../../../formats/faults.ts';
import { checkLabels } from '../../../formats/labels.ts';
import { GatewayError } from '../../../plugin/index.ts';
import { nearest } from '../../kernel/index.ts';
import type { Problem, Report } from '../../kernel/report.ts';
import { claude, ENDPOINT_PREFIX, google, readFamily } from './families.ts';
import { forgottenPrefix } from './hints.ts';

/** `claude-sonnet-4-5@20250929` on Vertex AI (docs/protocols/vertex-ai.md#dated-claude-models). */
const ANTHROPICS_DATE = /-(?=[0-9]{8}$)/;

/** Checks the parameters that a gateway config sends to the entry. */
export function checkParams(
  entry: VertexSettings,
  { model, labels }: Readonly<Record<string, unknown>>,
  report: Report,
): void {
  if (typeof model === 'string') {
    const problem = problemOf(model, entry);
    if (problem) report({ ...problem, path: ['model'] });
  }
  if (labels !== undefined && labels !== null) checkOwnLabels(labels, report);
}

function problemOf(name: string, entry: VertexSettings): Omit<Problem, 'path'> | undefined {
  if (name.startsWith(ENDPOINT_PREFIX)) return entry.api_key ? NOT_EXPRESS : misspeltEndpoint(name, entry);
  try {
    const { family, model } = readFamily(name);
    if (entry.api_key && family !== google) return NOT_EXPRESS;
    if (family === google) return withoutPrefix(model);
    return family === claude ? withOtherDate(name) : undefined;
  } catch (error) {
    if (error instanceof GatewayError) return { message: error.message.replace(/\.$/, '') };
    throw error;
  }
}

const NOT_EXPRESS: Omit<Problem, 'path'> = {
  message: "an API key (express mode) works for Google's own models only; this model needs a project",
};

function withoutPrefix(model: string): Omit<Problem, 'path'> | undefined {
  const prefix = forgottenPrefix(model);
  if (prefix === undefined) return undefined;
  const message = `a name without a prefix is treated as one of Google's own models`;
  return { severity: 'warning', message, suggestion: prefix + model };
}

function withOtherDate(name: string): Omit<Problem, 'path'> | undefined {
  if (!ANTHROPICS_DATE.test(name)) return undefined;
  const message = 'on Vertex AI, the version of a Claude model follows an @';
  return { severity: 'warning', message, suggestion: name.replace(ANTHROPICS_DATE, '@') };
}

/** Warns of a name that is similar to one in the settings: it is probably a typo, although an endpoint's id may be any name. */
function misspeltEndpoint(name: string, { endpoints = {} }: VertexSettings): Omit<Problem, 'path'> | undefined {
  const word = name.slice(ENDPOINT_PREFIX.length);
  if (Object.hasOwn(endpoints, word) || /^[0-9]*$/.test(word) || word.includes('*')) return undefined;
  const meant = nearest(word, Object.keys(endpoints));
  if (meant === undefined) return undefined;
  const message = `\`endpoints\` of the catalog entry has no ${word}, so it is used as an endpoint's id`;
  return { severity: 'warning', message, suggestion: ENDPOINT_PREFIX + meant };
}

/** Checks labels by the rules for requests; null removes a label. */
function checkOwnLabels(labels: unknown, report: Report): void {
  const given: [string, unknown][] = Object.entries(Object(labels));
  if (typeof labels !== 'object' || Array.isArray(labels)) {
    report({ path: ['labels'], message: '`labels` must be an object with text values, such as {team: search}' });
    return;
  }
  for (const [key, value] of given) {
    if (value === null) continue;
    try {
      checkLabels({ [key]: value });
    } catch (error) {
      if (!(error instanceof RequestFault)) throw error;
      report({ path: ['labels', key], message: error.message.replace(/\.$/, '') });
    }
  }
}
