import type { ComponentChildren } from 'preact';
import { address, setQuery } from '../address.ts';

type Named<Name> = readonly (readonly [name: Name, shown: ComponentChildren])[];

interface SegmentsProps<Name> {
  readonly label: string;
  readonly of: Named<Name>;
  readonly chosen: Name;
  readonly onChoose: (name: Name) => void;
}

/** One of a few, beside each other. */
export const Segments = <Name extends string>({ label, of, chosen, onChoose }: SegmentsProps<Name>) => (
  <div class="segments" role="group" aria-label={label}>
    {of.map(([name, shown]) => (
      <button key={name} type="button" aria-pressed={name === chosen} onClick={() => onChoose(name)}>
        {shown}
      </button>
    ))}
  </div>
);

/** The part of a screen that the address names; the first one without a name. */
export const tabOf = <Name extends string>(of: Named<Name>, member = 'tab'): Name =>
  of.find(([name]) => name === address.value.query.get(member))?.[0] ?? of[0]![0];

interface TabsProps<Name> extends Pick<SegmentsProps<Name>, 'of'> {
  readonly label?: string;
  /** The member of the address that names the chosen one. */
  readonly member?: string;
  /** Members of the address that belong to one part alone. */
  readonly resets?: readonly string[];
}

export const Tabs = <Name extends string>({ label = 'Shown', member = 'tab', of, resets = [] }: TabsProps<Name>) => (
  <Segments
    label={label}
    of={of}
    chosen={tabOf(of, member)}
    onChoose={(name) =>
      setQuery({
        ...Object.fromEntries(resets.map((one) => [one, undefined])),
        [member]: name === of[0]?.[0] ? undefined : name,
      })
    }
  />
);
