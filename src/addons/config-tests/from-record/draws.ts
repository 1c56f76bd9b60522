import type { GatewayFile, Target } from '../../../../schemas/types.generated.ts';
import type { CaseRecord } from './shapes.ts';

/** Numbers with which the load balances of a config choose the targets that a request tried, in its order. */
export function drawsFor(file: GatewayFile, { attempts, skipped }: CaseRecord): readonly number[] {
  const visited = attempts.map(({ target }) => target);
  // From the last one on, so that the places of earlier ones stay.
  for (const { target, after } of skipped.toReversed()) visited.splice(after, 0, target);
  return drawsIn(file, 'config', visited);
}

function drawsIn(node: GatewayFile | Target, path: string, visited: readonly string[]): readonly number[] {
  const members = node.targets ?? [];
  const balances = node.strategy?.mode === 'loadbalance';
  const left = new Map(members.flatMap((member, index) => (weightOf(member) > 0 ? [[index, weightOf(member)]] : [])));
  const draws: number[] = [];
  for (const index of new Set(visited.flatMap((target) => memberAt(path, target) ?? []))) {
    if (balances) draws.push(drawOf(index, left));
    left.delete(index);
    const member = members[index];
    const own = `${path}.targets[${index}]`;
    if (member)
      draws.push(
        ...drawsIn(
          member,
          own,
          visited.filter((target) => target === own || target.startsWith(`${own}.`)),
        ),
      );
  }
  return draws;
}

const weightOf = ({ weight = 1 }: Target): number => weight;

/** The index of the member of the group at `path` that holds the target. */
function memberAt(path: string, target: string): number | undefined {
  const rest = target.startsWith(`${path}.`) ? target.slice(path.length + 1) : '';
  const [, index] = /^targets\[(\d+)\]/.exec(rest) ?? [];
  return index === undefined ? undefined : Number(index);
}

/** The middle of the member's part of the line from 0 to 1. */
function drawOf(wanted: number, left: ReadonlyMap<number, number>): number {
  const total = [...left.values()].reduce((sum, weight) => sum + weight, 0);
  let before = 0;
  for (const [index, weight] of left) {
    if (index === wanted) return Math.round(((before + weight / 2) / total) * 1e6) / 1e6;
    before += weight;
  }
  return 0;
}
