/** Counters of a scrape, by name and labels as Prometheus writes them. */
export type Counters = ReadonlyMap<string, number>;

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export async function scrape(statusUrl: string): Promise<Counters> {
  const text = await (await fetch(`${statusUrl}/metrics`)).text();
  return new Map(
    text
      .split('\n')
      .filter((line) => line.startsWith('gatehouse_'))
      .map((line) => {
        const at = line.lastIndexOf(' ');
        return [line.slice(0, at), Number(line.slice(at + 1))];
      }),
  );
}

/** What one metric has gained between two scrapes; only what has changed. */
export function gained(before: Counters, after: Counters, name: string): Sample[] {
  return [...after].flatMap(([key, value]) => {
    if (key !== name && !key.startsWith(`${name}{`)) return [];
    const more = value - (before.get(key) ?? 0);
    return more === 0 ? [] : [{ labels: labelsOf(key), value: more }];
  });
}

function labelsOf(key: string): Record<string, string> {
  return Object.fromEntries([...key.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name!, value!]));
}

export const total = (samples: readonly Sample[]): number => samples.reduce((sum, { value }) => sum + value, 0);
