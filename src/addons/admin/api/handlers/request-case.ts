import { partOf } from '../../../../core/process/add-on-parts.ts';
import type { KeptClientRequest, RecordCase, RecordCases } from '../../../../core/process/record-case-port.ts';
import type { RecordJson } from '../../../../core/record/record-query.ts';
import type { Call, Handler } from '../call.ts';
import { ApiProblem } from '../problems.ts';
import { dataUrl } from '../session-body.ts';
import { auditRead, checkContent, recordOf, wantsText, wantsTexts } from './requests.ts';

interface FoundRequest {
  readonly record: RecordJson;
  /** Undefined: its body is not kept. */
  readonly kept: KeptClientRequest | undefined;
}

/** The record of a request, and the request itself if it is kept: with its texts the audit has a row. */
async function foundRequest(call: Call): Promise<FoundRequest> {
  checkContent(call);
  const record = await recordOf(call);
  if (record.state === 'running') throw new ApiProblem('cannot_explain', 'The request has not ended.');
  const id = record['explain_id'];
  if (typeof id !== 'string') return { record, kept: undefined };
  const answers = await call.sources.ask('explain.kept', { id, texts: wantsTexts(call) }, 'all').catch(() => []);
  // A process of this gateway has answered.
  const kept = answers.find(({ answer }) => answer !== undefined)?.answer as KeptClientRequest | undefined;
  if (kept && wantsTexts(call)) await auditRead(call);
  return { record, kept };
}

function casesOfBuild(): RecordCases {
  const cases = partOf('recordCases');
  if (cases) return cases;
  throw new ApiProblem('cannot_explain', 'This build has no add-on config-tests.');
}

export const testOfRequest: Handler = async (call) => {
  const cases = casesOfBuild();
  const { inForce, configs: folder } = call.sources;
  const made = await cases.make({ ...(await foundRequest(call)), inForce: inForce(), folder });
  return wantsText(call.accept) ? { text: withNotes(made) } : { body: made };
};

function withNotes({ file, text, passes, notes }: RecordCase): string {
  const head = [file, ...(passes ? [] : ['This case does not pass with the settings in force.']), ...notes];
  return `${head.map((line) => `# ${line.replaceAll('\n', ' ')}\n`).join('')}${text}`;
}

export const curlOfRequest: Handler = async (call) => {
  const cases = casesOfBuild();
  const found = await foundRequest(call);
  const { kept } = found;
  const inForce = call.sources.inForce();
  const { listen } = call.sources.settings();
  const url = dataUrl(listen, inForce.settings.tls.data !== undefined) ?? LOCAL;
  const command = commandOf(url, await cases.request({ ...found, inForce }));
  return wantsText(call.accept) ? { text: `${command}\n` } : { body: { command, kept: kept !== undefined } };
};

/** Where the system has chosen the port. */
const LOCAL = 'http://127.0.0.1:8787';

/** The shell has the key: it is in no command, and in no history of one. */
function commandOf(url: string, { method, path, headers, body }: Omit<KeptClientRequest, 'draws'>): string {
  const streams = path.includes(':stream') || /"stream":\s*true/.test(body);
  const lines = [
    `curl ${streams ? '-N ' : ''}${method === 'GET' ? '' : `-X ${method} `}${quoted(url + path)}`,
    '  -H "x-gateway-api-key: $GATEWAY_KEY"',
    ...Object.entries(headers).map(([name, value]) => `  -H ${quoted(`${name}: ${value}`)}`),
    ...(body === '' ? [] : ["  -H 'content-type: application/json'", `  -d ${quoted(body)}`]),
  ];
  return lines.join(' \\\n');
}

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
