import type { ConditionExplanation, RulesExplanation, TestExplanation } from '../../explanation/explanation.ts';
import type { Branch, ChosenBranch, Conditional, Route } from '../../../../core/kernel/index.ts';
import { explainQuery, type ComparisonAnswer } from './answers.ts';
import { SECRET } from '../../../../core/dry-run/calls.ts';
import type { Observation } from '../observation.ts';
import { googleKeys } from '../../../../core/kernel/client-keys.ts';
import { ownSource, placeOf } from './places.ts';

/** Describes every condition, in the order of the conditionals that the request reached. */
export function describeRules(seen: Observation): readonly RulesExplanation[] {
  const { config } = seen.exchange;
  return seen.record.conditions.map((chosen) => {
    const conditional = config && conditionalAt(config.route, chosen.at);
    return {
      conditional: chosen.at,
      conditions:
        conditional?.branches.map((branch, index) => describeCondition(seen, chosen, { branch, index })) ?? [],
      to: chosen.to,
      otherwise: chosen.condition === undefined,
    };
  });
}

function conditionalAt(route: Route, path: string): Conditional | undefined {
  if (route.kind === 'target') return undefined;
  if (route.path === path) return route.kind === 'conditional' ? route : undefined;
  for (const member of route.members) {
    const found = conditionalAt(member, path);
    if (found) return found;
  }
  return undefined;
}

interface Numbered {
  readonly branch: Branch;
  readonly index: number;
}

function describeCondition(seen: Observation, chosen: ChosenBranch, { branch, index }: Numbered): ConditionExplanation {
  const last = chosen.condition ?? Infinity;
  const here = ['strategy', 'conditions', index];
  const at = placeOf(ownSource(seen, chosen.at, here));
  // Conditions after the matching one were not evaluated.
  const answers = index > last ? [] : explainQuery(branch.query)(seen.exchange);
  return {
    index,
    at,
    holds: index > last ? undefined : index === last,
    // oxlint-disable-next-line unicorn/no-thenable -- the config's own word
    then: branch.member.path,
    tests: answers.map((answer) => describeTest(answer)),
  };

  function describeTest({ path, field, operator, wanted, found, holds, inner }: ComparisonAnswer): TestExplanation {
    return {
      field,
      operator,
      wanted: shown(wanted, seen),
      ...(found !== undefined && { found: shown(found, seen) }),
      holds,
      at: placeOf(ownSource(seen, chosen.at, [...here, 'query', ...path])),
      ...(inner && { inner: inner.map((one) => describeTest(one)) }),
    };
  }
}

/** Maximum length of a shown value, which may be a whole conversation. */
const LONGEST = 200;

/** A value for display: truncated, and concealed where a query may compare with a shared secret. */
function shown(value: unknown, seen: Observation): unknown {
  if (value === undefined || value === null || typeof value === 'boolean') return value;
  const written = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = concealed(written, seen);
  if (safe === written && written.length <= LONGEST) return value;
  return safe.length > LONGEST ? `${safe.slice(0, LONGEST)}…` : safe;
}

function concealed(text: string, { loaded, settings, exchange }: Observation): string {
  const { request, config } = exchange;
  const own = [
    request.header('api-key'),
    request.headers.authorization,
    request.headers['x-api-key'],
    ...googleKeys(request.headers),
  ]
    .flatMap((given) => given ?? [])
    .map((given) => given.replace(/^bearer +/i, ''))
    .filter((given) => given !== '');
  const files = ['server.yaml', 'catalog.yaml', 'keys.yaml'];
  if (config && settings.gateway.has(config.id)) files.push(`gateway/${config.id}.yaml`);
  const masked = own.reduce((rest, key) => rest.replaceAll(key, SECRET), text);
  return files.reduce((rest, file) => loaded.conceal(file, rest), masked);
}
