import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Target as TargetFile } from '../../schemas/types.generated.ts';
import { FAILURE_KINDS } from '../../src/plugin/failures.ts';
import { failureKinds, type FailureKind, type GatewayError } from '../../src/plugin/index.ts';
import type { Group, Route, Target } from '../../src/core/kernel/index.ts';
import { drawOrder } from './order.ts';
import { condition, failureOf, nameOf, treeOf, walk } from './target-selector.testkit.ts';
import { runs } from '../../test/support/effort.ts';

/**
 * For any tree, failures and breakers, the selector behaves like the interpreter below: the same rules written as
 * plainly as possible, over a list of the targets tried so far.
 */
const KINDS = Object.keys(FAILURE_KINDS) as readonly FailureKind[];
const kind = fc.constantFrom(...KINDS);
const likelyKind = fc.oneof(
  { weight: 2, arbitrary: kind },
  fc.constantFrom<FailureKind>('overloaded', 'context_length'),
);

const leaf: fc.Arbitrary<TargetFile> = fc.record(
  {
    override_params: fc.record({ model: fc.constantFrom('m1', 'm2', 'm3', 'm4') }),
    context_window: fc.constantFrom(100, 200, 300),
  },
  { requiredKeys: ['override_params'] },
);

const rules = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  fc.record(
    {
      on_errors: fc.uniqueArray(fc.oneof(fc.constant('default' as const), kind), { minLength: 1, maxLength: 6 }),
      on_status_codes: fc.uniqueArray(fc.constantFrom(400, 429, 500, 503, 504), { minLength: 1 }),
      stop_on_errors: fc.uniqueArray(kind, { minLength: 1, maxLength: 3 }),
    },
    { requiredKeys: [] },
  ),
);

const { node } = fc.letrec<{ node: TargetFile; group: TargetFile }>((tie) => ({
  node: fc.oneof({ maxDepth: 3, depthSize: 'small' }, leaf, tie('group')),
  group: fc.oneof(
    fc
      .tuple(
        fc.constantFrom('fallback' as const, 'loadbalance' as const),
        rules,
        fc.array(tie('node'), { minLength: 1, maxLength: 4 }),
      )
      .chain(([mode, said, targets]) =>
        fc
          .array(fc.constantFrom(0, 1, 2, 5), { minLength: targets.length, maxLength: targets.length })
          // Validation refuses a load balance without a weighted member.
          .filter((weights) => weights.some((one) => one > 0))
          .map((weights): TargetFile => ({
            strategy: { mode, ...said },
            targets: targets.map((one, index) => ({
              ...one,
              ...(mode === 'loadbalance' && { weight: weights[index]! }),
            })),
          })),
      ),
    fc.tuple(tie('node'), tie('node'), fc.boolean()).map(([yes, no, holds]): TargetFile => ({
      strategy: {
        mode: 'conditional',
        conditions: [condition(holds ? 'asked' : 'other', 'yes')],
        default: 'no',
      },
      targets: [
        { ...yes, name: 'yes' },
        { ...no, name: 'no' },
      ],
    })),
    tie('node').map((one): TargetFile => ({ targets: [one] })),
  ),
}));

/** Names the targets in order. */
function named(file: TargetFile, count = { value: 0 }): TargetFile {
  if (!file.targets) return { ...file, provider: `@t${count.value++}` };
  return { ...file, targets: file.targets.map((one) => named(one, count)) };
}

interface World {
  readonly tree: Route;
  readonly failures: Readonly<Record<string, GatewayError>>;
  readonly open: Readonly<Record<string, number>>;
}

const targetsOf = (route: Route): Target[] => (route.kind === 'target' ? [route] : route.members.flatMap(targetsOf));
const names = (route: Route): string[] => targetsOf(route).map(nameOf);

const world: fc.Arbitrary<World> = node
  .map((file) => treeOf(named(file)))
  .chain((tree) => {
    const all = names(tree);
    const outcome = fc.oneof({ weight: 3, arbitrary: likelyKind.map((one) => failureOf(one)) }, fc.constant(undefined));
    const breaker = fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, fc.integer({ min: 1, max: 5 }));
    const each = <T>(arbitrary: fc.Arbitrary<T>) =>
      fc.array(arbitrary, { minLength: all.length, maxLength: all.length });
    const record = <T>(values: readonly (T | undefined)[]): Record<string, T> =>
      Object.fromEntries(all.flatMap((name, index) => (values[index] === undefined ? [] : [[name, values[index]]])));
    return fc
      .tuple(each(outcome), each(breaker))
      .map(([outcomes, breakers]) => ({ tree, failures: record(outcomes), open: record(breakers) }));
  });

/** The rules as a plain interpreter. */
function interpret({ tree, failures, open }: World) {
  const tried: string[] = [];
  const refused: { readonly target: Target; readonly kind: FailureKind }[] = [];
  const leftAlone: string[] = [];

  const ask = (target: Target): 'answered' | GatewayError => {
    const name = nameOf(target);
    tried.push(name);
    const failure = failures[name];
    fellThrough = false;
    if (!failure) return 'answered';
    const [first] = failureKinds(failure);
    if (first === 'context_length' || first === 'content_filter') refused.push({ target, kind: first });
    return failure;
  };

  const canDoNoBetter = (target: Target): boolean =>
    refused.some(
      (earlier) =>
        earlier.target.overrideParams!['model'] === target.overrideParams!['model'] ||
        (earlier.kind === 'context_length' &&
          (target.contextWindow ?? Infinity) <= (earlier.target.contextWindow ?? -1)),
    );

  const goesOn = ({ fallsThrough: { kinds, statusCodes, stop } }: Group, failure: GatewayError): boolean => {
    const own = failureKinds(failure);
    if (own.some((one) => stop.has(one))) return false;
    return own.some((one) => kinds.has(one)) || (own.length > 0 && statusCodes.has(failure.status));
  };

  let fellThrough = false;
  const go = (route: Route): 'answered' | 'skipped' | GatewayError => {
    if (route.kind === 'conditional') {
      const [branch] = route.branches;
      return go(branch!.holds(ASKED) ? branch!.member : route.otherwise);
    }
    if (route.kind === 'target') {
      if (canDoNoBetter(route)) return 'skipped';
      if (route === tree || open[nameOf(route)] === undefined) return ask(route);
      leftAlone.push(nameOf(route));
      return 'skipped';
    }
    let outcome: 'skipped' | GatewayError = 'skipped';
    for (const member of route.mode === 'loadbalance' ? drawOrder(route, () => 0.5) : route.members) {
      const next = go(member);
      if (next === 'answered') return next;
      if (next === 'skipped') continue;
      outcome = next;
      if (!goesOn(route, next)) break;
      fellThrough = true;
    }
    return outcome;
  };

  let outcome = go(tree);
  const [soonest] = targetsOf(tree)
    .filter((target) => leftAlone.includes(nameOf(target)) && !canDoNoBetter(target))
    .map(nameOf)
    .toSorted((one, other) => open[one]! - open[other]! || leftAlone.indexOf(one) - leftAlone.indexOf(other));
  const refusedForWhatItIs = typeof outcome === 'object' && failureKinds(outcome).some((one) => OF_THE_TARGET.has(one));
  if (soonest !== undefined && (outcome === 'skipped' || (fellThrough && refusedForWhatItIs))) {
    tried.push(soonest);
    outcome = failures[soonest] ?? 'answered';
  }
  return { tried, answered: outcome === 'answered' };
}

/** Failures that mean that this target cannot take the request, rather than that it is unhealthy. */
const OF_THE_TARGET: ReadonlySet<FailureKind> = new Set([
  'auth',
  'content_filter',
  'context_length',
  'invalid_request',
  'not_found',
  'unsupported',
]);

const ASKED = { request: { body: { string: () => 'asked' } } } as never;

describe('the selector, for any tree and any failures', () => {
  const request = { exchange: { json: { model: 'asked' } } };

  it('tries the targets in the order of the rules until one answers', async () => {
    await fc.assert(
      fc.asyncProperty(world, async (one) => {
        const expected = interpret(one);
        const walked = await walk(one.tree, { ...one, ...request });
        expect({ tried: walked.tried, answered: walked.failure === undefined }).toEqual(expected);
      }),
      { numRuns: runs(500) },
    );
  });

  it('tries no target twice and none after an answer; only the last resort is both skipped and tried', async () => {
    await fc.assert(
      fc.asyncProperty(world, async (one) => {
        const { tried, failure, skipped, nextCalls, reasons, tree } = {
          ...(await walk(one.tree, { ...one, ...request })),
          tree: one.tree,
        };
        expect(new Set(tried).size).toBe(tried.length);
        const answers = tried.map((name) => !(name in one.failures));
        expect(answers.indexOf(true)).toBe(failure === undefined ? tried.length - 1 : -1);
        expect(nextCalls).toBe(failure === undefined ? 1 : 0);
        const out = skipped.map(([name]) => name);
        expect(tried.filter((name) => out.includes(name))).toEqual(
          reasons.includes('last_resort') ? [tried.at(-1)] : [],
        );
        if (names(tree).every((name) => !(name in one.failures) && !(name in one.open))) expect(tried).toHaveLength(1);
      }),
      { numRuns: runs(300) },
    );
  });

  it('predicts during each attempt whether its failure falls through', async () => {
    await fc.assert(
      fc.asyncProperty(world, async (one) => {
        const { tried, fallsThrough } = await walk(one.tree, { ...one, ...request });
        expect(fallsThrough).toEqual(fallsThrough.map((_, index) => index < tried.length - 1));
      }),
      { numRuns: runs(500) },
    );
  });
});
