import fc from 'fast-check';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import { describe as text } from '../../src/core/settings/source/diagnostic.ts';
import { loadSettings, type LoadResult } from '../../src/core/settings/read/load.ts';
import { memoryFiles } from '../../src/core/settings/source/files.ts';
import { foundIn, leakIn, missingIn, placeOf, type Found, type Place, type Situation } from './allowed.ts';
import { configId, filesOf, slugOf, targetPath, textsOf, type Files } from './files.ts';
import { plans, type Plan } from './generated.ts';
import { leakingSettings } from './leaking-settings.ts';
import { headerPaths, type HeaderPath } from './header-paths/paths.ts';
import { configAsked, inlineRequest, requestOf } from './requests.ts';
import { startSettings, type SentRequest } from './serve.ts';

/** Counts what a property has seen. A property that never saw a credential would prove nothing. */
export type Tally = Map<string, number>;

export const loadFiles = (files: Files): Promise<LoadResult> =>
  loadSettings('configs', { env: files.env, files: memoryFiles(textsOf(files)) });

/** Valid settings send no credential and no request header to a place that they do not name. */
export const nothingLeaks = (tally: Tally) =>
  fc.asyncProperty(plans, async (plan) => {
    const loaded = await loadFiles(filesOf(plan));
    const running = await startSettings(loaded);
    if (!running) throw new Error(`the settings are refused: ${loaded.diagnostics.map(text).join('\n')}`);
    const possible = await headerPaths(loaded, systemClock);
    const problems = possible.flatMap((path) => possibleLeak(path, plan, tally));
    for (const asked of plan.requests) {
      const request = requestOf(plan, asked);
      const config = configAsked(plan, asked);
      const stored = asked.config && 'stored' in asked.config ? configId(asked.config.stored) : undefined;
      for (const sent of await running.send(request)) {
        const place = placeOf(sent, plan);
        if (place === undefined) problems.push(`a request goes to ${sent.origin.url}`);
        else {
          const situation = { plan, place, config, connection: asked.connection };
          problems.push(...problemsOf(sent, { situation, headers: Object.keys(request.headers), tally }));
          if (!asked.config || stored !== undefined) problems.push(...unforeseen(sent, { possible, place, stored }));
        }
      }
    }
    await running.close();
    if (problems.length > 0) throw new Error([...new Set(problems)].join('\n'));
  });

/** Leaking settings have an error at the line and column of the mistake; the same list in an inline config is refused too. */
export const leakingSettingsAreRefused = (tally: Tally) =>
  fc.asyncProperty(leakingSettings, async ({ plan, kind, files, file, text: written, forwards }) => {
    count(tally, kind);
    const loaded = await loadFiles(files);
    const name = `configs/${file}.yaml`;
    const at = `${name}:${placeIn(textsOf(files)[name]!, written)}: `;
    const errors = loaded.diagnostics.filter(({ severity }) => severity === 'error').map(text);
    if (!errors.some((error) => error.startsWith(at)))
      throw new Error(`${kind}: no error at ${at}\n${textsOf(files)[name]}\n${errors.join('\n')}`);
    if (forwards === undefined) return;
    const running = await startSettings(await loadFiles(filesOf(plan)));
    const request = inlineRequest(plan, { provider: `@${slugOf(0)}`, forward_headers: [forwards] });
    const sent = await running?.send(request);
    await running?.close();
    if (sent?.length !== 0) throw new Error(`a config that comes with a request forwards ${forwards}`);
  });

/** Line and column, from 1. */
function placeIn(file: string, written: string): string {
  const before = file.slice(0, file.indexOf(written));
  return `${before.split('\n').length}:${before.length - before.lastIndexOf('\n')}`;
}

interface Seen {
  readonly situation: Situation;
  /** Names in the request. */
  readonly headers: readonly string[];
  readonly tally: Tally;
}

function problemsOf(sent: SentRequest, { situation, headers, tally }: Seen): readonly string[] {
  const found = foundIn(sent);
  for (const one of found) count(tally, kindOf(one, situation.place));
  const at = nameOf(situation.place);
  return [
    ...found.flatMap((one) => {
      const why = leakIn(one, situation);
      return why === undefined ? [] : [`${one.what} of ${one.owner} is in ${one.as} to ${at}: ${why}`];
    }),
    ...missingIn(found, headers, situation).map((what) => `${what} is not in the request to ${at}`),
  ];
}

const kindOf = ({ owner, as }: Found, place: Place): string => {
  if (owner === 'caller') return `the caller's token at ${typeof place === 'number' ? 'an entry' : place}`;
  if (owner !== 'header') return `a credential in ${as}`;
  return as.startsWith('anthropic-') ? `said in ${as}` : 'a forwarded header';
};

const nameOf = (place: Place): string => (typeof place === 'number' ? `@${slugOf(place)}` : place);

const count = (tally: Tally, what: string): void => void tally.set(what, (tally.get(what) ?? 0) + 1);

/** `headerPaths` tries every header name, so it also finds reads of names that no request here has. */
function possibleLeak({ header, as, provider, config: id, target }: HeaderPath, plan: Plan, tally: Tally): string[] {
  count(tally, 'a possible path of a header');
  const config = plan.configs.find((_, index) => configId(index) === id);
  const entry = plan.entries.findIndex((_, index) => `@${slugOf(index)}` === provider);
  const index = config?.targets.findIndex((_, at) => targetPath(config, at) === target) ?? -1;
  if (config && index >= 0 && config.targets[index]!.entry !== entry)
    return [`${target} of ${id} leads to ${provider}`];
  const place: Place = entry >= 0 ? entry : provider === 'custom host' ? provider : 'vertex-ai';
  const owner = header === 'authorization' ? 'caller' : 'header';
  // `headerPaths` assumes that the chain has `auth`.
  const situation = { plan: { ...plan, auth: true }, place, config, connection: [] };
  const why = leakIn({ owner, what: header, as }, situation);
  return why === undefined ? [] : [`a request could send ${header} as ${as} to ${provider} (${id}, ${target}): ${why}`];
}

interface Foreseen {
  readonly possible: readonly HeaderPath[];
  readonly place: Place;
  /** Id of the config. */
  readonly stored: string | undefined;
}

/** Headers that reach an upstream although `headerPaths` does not list them. */
function unforeseen(sent: SentRequest, { possible, place, stored }: Foreseen): readonly string[] {
  const provider = nameOf(place);
  const paths = possible.filter((path) => path.provider === provider && path.config === stored);
  return foundIn(sent)
    .filter(({ owner }) => owner === 'header' || owner === 'caller')
    .filter(
      ({ owner, what, as }) =>
        !paths.some((path) => path.as === as && path.header === (owner === 'caller' ? 'authorization' : what)),
    )
    .map(({ what, as }) => `no possible path says that ${what} gets to ${provider} as ${as}`);
}
