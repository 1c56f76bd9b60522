import type { ShownTest, ShownPlace, ShownAttempt, ShownExplanation, ShownRequest } from '../../api/shapes.ts';

/** One step of the way of a request: who decided, and on which line. */
export interface WhyStep {
  readonly id: string;
  readonly title: string;
  readonly lines: readonly string[];
  readonly tests: readonly ShownTest[];
  readonly place: ShownPlace | undefined;
  readonly tone: 'plain' | 'ok' | 'failed' | 'warning';
  readonly chip?: string;
  /** The step that decided where the reply came from. */
  readonly decides: boolean;
}

/** Places of the config, without what only a kept request tells: its caller, the values, the health. */
export interface WhyPlaces {
  readonly places: Readonly<Record<string, ShownPlace>>;
  readonly explanation?: ShownExplanation;
}

const FOUND: Readonly<Record<string, string>> = {
  named: 'found by the key that the client sent',
  header: 'the header x-gateway-config names it',
  inline: 'it came in the header x-gateway-config',
  key: 'the default of this key',
  server: 'the default of the server',
  alias: 'the model is an alias of this config',
  none: 'the request names its target itself',
};

const WHY: Readonly<Record<string, string>> = {
  only: 'the only target',
  first: 'first of the fallback',
  fallback: 'the target before it failed',
  weight: 'drawn by weight',
  sticky: 'drawn by weight, the same for equal sticky values',
  condition: 'a condition matches',
  otherwise: 'no condition matches',
  probe: 'it probes a target with a half-open circuit breaker',
  last_resort: 'no other target takes the request',
};

const within = (folder: string | undefined, place: ShownPlace | undefined): ShownPlace | undefined =>
  place && folder !== undefined && place.file.startsWith(`${folder}/`)
    ? { ...place, file: place.file.slice(folder.length + 1) }
    : place;

/** Files as the settings folder has them. */
export function placesOf(explanation: ShownExplanation): Readonly<Record<string, ShownPlace>> {
  const { settings, targets, rules = [], config, leftOut = [] } = explanation;
  const entries = [
    ['config', config?.source.at],
    ...[...targets, ...leftOut].map(({ target, at }) => [target, at] as const),
    ...rules.flatMap(({ conditional, conditions }) =>
      conditions.map(({ index, at }) => [`${conditional}.conditions[${index}]`, at] as const),
    ),
  ] as const;
  return Object.fromEntries(
    entries.flatMap(([name, at]) => {
      const place = within(settings.folder, at);
      return place ? [[name, place]] : [];
    }),
  );
}

export function stepsOf(request: ShownRequest, known: WhyPlaces): readonly WhyStep[] {
  const { explanation } = known;
  return [
    keyStep(request, explanation),
    ...(request.config ? [configStep(request.config.id, known)] : []),
    ...conditionSteps(request, known),
    ...targetSteps(request, known),
    ...ownAnswer(request),
  ];
}

const plain = { tests: [], tone: 'plain', decides: false } as const;

function keyStep(request: ShownRequest, explanation: ShownExplanation | undefined): WhyStep {
  const caller = explanation?.caller;
  return {
    ...plain,
    id: 'key',
    title: request.key_id === undefined ? 'no key' : `key ${request.key_id}`,
    lines: [
      request.key_id === undefined
        ? 'the client sent no valid key'
        : (FOUND[caller?.found ?? 'named'] ?? caller?.found ?? ''),
    ],
    place: within(explanation?.settings.folder, caller?.at),
  };
}

function configStep(id: string, { places, explanation }: WhyPlaces): WhyStep {
  const found = explanation?.config?.found;
  return {
    ...plain,
    id: 'config',
    title: `config ${id}`,
    lines: [found === undefined ? 'the body was not kept: how it was chosen is unknown' : (FOUND[found] ?? found)],
    place: places['config'],
  };
}

function conditionSteps(request: ShownRequest, { places, explanation }: WhyPlaces): readonly WhyStep[] {
  return (request.conditions ?? []).map(({ at, held, to, tests }) => {
    const index = /\[(\d+)\]/.exec(held)?.[1];
    const rule = explanation?.rules?.find(({ conditional }) => conditional === at);
    const chosen = rule?.conditions.find((one) => String(one.index) === index);
    const tried = rule?.conditions.filter(({ holds }) => holds === false).flatMap((one) => one.tests) ?? [];
    return {
      ...plain,
      id: `${at}.${held}`,
      title: index === undefined ? 'no condition holds' : 'condition holds',
      lines: index === undefined ? [`the default of the conditions: ${to}`] : [],
      tests: index === undefined ? tried : (tests ?? chosen?.tests ?? []),
      place: places[`${at}.${held}`] ?? places[to],
    };
  });
}

function targetSteps(request: ShownRequest, known: WhyPlaces): readonly WhyStep[] {
  const { attempts, skipped } = request;
  const answered = attempts.findIndex((one) => one.answered === true);
  const decides = answered >= 0 ? answered : attempts.length - 1;
  const skippedAfter = (after: number): readonly WhyStep[] =>
    skipped
      .filter((one) => one.after === after)
      .map(({ target, target_name: name, reason }) => ({
        ...plain,
        id: `skipped ${target}`,
        title: name ?? target,
        lines: [`skipped: ${SKIPPED[reason] ?? reason.replaceAll('_', ' ')}`],
        place: known.places[target],
        tone: 'warning',
        chip: 'skipped',
      }));
  return [
    ...attempts.flatMap((attempt, index) => [...skippedAfter(index), attemptStep(attempt, known, index === decides)]),
    ...skippedAfter(attempts.length),
  ];
}

const SKIPPED: Readonly<Record<string, string>> = {
  circuit_open: 'its breaker is open',
  same_model: 'it has the model that failed',
  context_window: 'its context window is no larger',
};

function attemptStep(attempt: ShownAttempt, { places, explanation }: WhyPlaces, decides: boolean): WhyStep {
  const { target, target_name: name, request_model: model, why, tries, failure, answered } = attempt;
  const health = explanation?.targets.find((one) => one.target === target)?.health;
  const status = tries.at(-1)?.status ?? failure?.code;
  const failed =
    failure === undefined
      ? []
      : [
          `${tries.length === 1 ? '1 try' : `${tries.length} tries`}, ${failure.upstream_kind ?? failure.code ?? 'failed'}${failure.upstream_message === undefined ? '' : `: ${failure.upstream_message}`}`,
        ];
  const healthText = health ? ` · health ${health.state}${health.enforced ? '' : ', not enforced'}` : '';
  return {
    id: target,
    title: `${name ?? target}${model === undefined ? '' : ` → ${model}`}`,
    lines: [`${WHY[why] ?? why}${healthText}`, ...failed],
    tests: [],
    place: places[target],
    tone: answered === true ? 'ok' : failure ? 'failed' : 'plain',
    ...(status !== undefined && { chip: String(status) }),
    decides,
  };
}

/** A request that no target has seen. */
function ownAnswer({ attempts, error, status, limited_by: by }: ShownRequest): readonly WhyStep[] {
  if (attempts.length > 0 || !error) return [];
  return [
    {
      id: 'answer',
      title: `the gateway answered ${error.code ?? status ?? ''}`,
      lines: [by === undefined ? 'no target was tried' : `the limit ${by} refused it`],
      tests: [],
      place: undefined,
      tone: 'failed',
      ...(status !== undefined && { chip: String(status) }),
      decides: true,
    },
  ];
}
