import { basename, join } from 'node:path';
import { stringify } from 'yaml';
import type { ConfigTestCase, ConfigTestStep, TestExpectation } from '../../../../schemas/types.generated.ts';
import { systemClock } from '../../../core/kernel/system-clock.ts';
import type { RecordCase, RecordCaseQuestion } from '../../../core/process/record-case-port.ts';
import { describe } from '../../../core/settings/source/diagnostic.ts';
import { sentFiles, type SettingsFiles } from '../../../core/settings/source/files.ts';
import { diffOf, headOf, type TestsEnd } from '../results.ts';
import { runCase } from '../runner.ts';
import { runTests } from '../run-tests.ts';
import { drawsFor } from './draws.ts';
import { clientPart } from './request-of-record.ts';
import type { CaseRecord } from './shapes.ts';
import { answersOf } from './upstream-answers.ts';

/** Makes a case of a record, and runs it: the text says whether it passes. */
export async function caseOfRecord(question: RecordCaseQuestion): Promise<RecordCase> {
  // The JSON of a record of this gateway.
  const record = question.record as CaseRecord;
  const { config } = record;
  const isKnown = config !== undefined && question.inForce.settings.gateway.has(config.id);
  const file = `gateway/${isKnown ? config.id : 'requests'}.test.yaml`;
  const text = stringify({ cases: [caseOf(record, question)] }, { lineWidth: 0 });
  const failures = await failuresOf(file, text, question);
  const unusual = notesOf(record, question);
  return {
    file,
    text,
    passes: failures.length === 0,
    notes: failures.length === 0 ? unusual : [...unusual, ...failures],
  };
}

function caseOf(record: CaseRecord, { kept, inForce: { settings } }: RecordCaseQuestion): ConfigTestCase {
  const { config, key_id: key } = record;
  const { request, headers } = clientPart(record, kept, settings);
  const file = config && settings.gateway.get(config.id);
  const isKeyKnown = key !== undefined && settings.keys.keys.some(({ id }) => id === key);
  const draws = kept && kept.draws.length > 0 ? kept.draws : file ? drawsFor(file, record) : [];
  // A config by alias, by default or in a header is chosen as it was; else it is named.
  const isChosen = record.alias !== undefined || (kept && !Object.keys(headers).some(isConfigHeader));
  const named = file && !isChosen ? config?.id : undefined;
  const sent = Object.entries(headers).filter(([name]) => named === undefined || !isConfigHeader(name));
  const upstream = answersOf(record);
  const expect = expectationOf(record, file !== undefined);
  const common = {
    name: `${wordsOf(record)} (${record.request_id})`,
    // Also in a file that has another name.
    config: named ?? 'none',
    ...(isKeyKnown && { key }),
    ...(sent.length > 0 && { headers: Object.fromEntries(sent) }),
    request,
    ...(draws.length > 0 && { draws: [...draws] }),
    at: record.time,
  };
  const hit = hitOf(record);
  if (!hit) return { ...common, upstream, expect };
  const next: ConfigTestStep = { ...(upstream.length > 0 && { upstream }), expect: { ...expect, headers: hit } };
  return { ...common, upstream: [...upstream, { answer: '[text]' }], expect, next: [next] };
}

const isConfigHeader = (name: string): boolean => /^x-[a-z]+-config$/.test(name);

/** The header of a reply from the cache. Undefined: it is none. */
function hitOf({ attempts }: CaseRecord): Readonly<Record<string, string>> | undefined {
  const last = attempts.at(-1);
  return last?.cache === 'hit' && last.tries.length === 0 ? { 'x-gateway-cache-status': 'HIT' } : undefined;
}

function expectationOf(record: CaseRecord, hasConfig: boolean): TestExpectation {
  const { attempts, status = 0 } = record;
  // Without a config, the check of cases knows entries alone.
  const names = attempts.map(({ target, provider }) => (hasConfig ? target : `@${provider}`));
  const isBroken = status < 400 && record.state === 'failed' && record.stream === true;
  return {
    ...(attempts.length > 0 && {
      attempts: attempts.some(({ provider }) => !hasConfig && !provider) ? attempts.length : names,
    }),
    status,
    ...(isBroken && { stream: { ends: 'error' as const } }),
  };
}

function wordsOf({ state, attempts, status, retries = 0 }: CaseRecord): string {
  const failed = attempts.filter(({ failure }) => failure !== undefined).length;
  const answered = attempts.at(-1);
  // `config` alone is no name of a target.
  const last = answered?.target === 'config' && answered.provider ? `@${answered.provider}` : answered?.target;
  if (last === undefined) return `is answered with ${status}`;
  if (state !== 'complete') return `fails with ${status} at ${last}`;
  if (failed > 0) return `is rescued by ${last}`;
  return retries > 0 ? `is answered by ${last} after a retry` : `is answered by ${last}`;
}

function notesOf(
  { state, skipped, key_id: key, left_out: leftOut }: CaseRecord,
  { kept, inForce }: RecordCaseQuestion,
) {
  const open = skipped.filter(({ reason }) => reason === 'circuit_open').map(({ target }) => target);
  const isUnknown = key !== undefined && !inForce.settings.keys.keys.some(({ id }) => id === key);
  return [
    ...(state === 'aborted' ? ['the client left, which no client of a case does'] : []),
    ...(open.length > 0
      ? [`${open.join(', ')} was skipped because of its breaker; a case begins with closed ones`]
      : []),
    ...(isUnknown ? [`the key ${key} is in no file: the case has a key without limits`] : []),
    ...(kept
      ? []
      : ['the body was not kept: the case has one that takes the same way (`admin.explain: all` keeps bodies)']),
    ...(leftOut ? ['the record does not have all attempts'] : []),
  ];
}

/** As `gatehouse test` runs it with the settings in force. */
async function failuresOf(
  file: string,
  text: string,
  { inForce, folder }: RecordCaseQuestion,
): Promise<readonly string[]> {
  const { contents } = inForce.files;
  const base = sentFiles(() => contents);
  const [path, gateway] = [join(folder, file), join(folder, 'gateway')];
  const files: SettingsFiles = {
    read: async (at) => (at === path ? { text } : base.read(at)),
    async list(at) {
      const listed = await base.list(at);
      const names = 'names' in listed ? listed.names.filter((name) => !name.endsWith('.test.yaml')) : [];
      if (at === gateway) return { folders: [], ...listed, names: [...names, basename(file)] };
      return 'names' in listed ? { ...listed, names } : listed;
    },
  };
  const end = await runTests({ folder, files, clock: systemClock, runCase, bail: false, onResult: () => {} });
  return failuresIn(end);
}

function failuresIn(end: TestsEnd): readonly string[] {
  if (end.kind === 'nothing') return [end.message];
  if (end.kind === 'broken') return end.diagnostics.map((one) => describe(one));
  return end.results.flatMap(({ failures }) =>
    failures.map((failure) =>
      [headOf(failure), ...diffOf(failure).map(([word, value]) => `${word} ${value}`)].join(', '),
    ),
  );
}
