import type { ComponentChildren } from 'preact';

/** Names with their values, in the order given. Undefined: it is left out. */
type Named = readonly (readonly [name: string, value: ComponentChildren])[];

export const Facts = ({ of }: { readonly of: Named }) => (
  <dl class="facts">
    {of.map(
      ([name, value]) =>
        value !== undefined && (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
    )}
  </dl>
);

/** Numbers that a person looks for first. */
export const Figures = ({
  of,
  layout = '',
}: {
  readonly of: readonly (readonly [string, string])[];
  readonly layout?: string;
}) => (
  <dl class={`figures ${layout}`}>
    {of.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd class="cut" title={value}>
          {value}
        </dd>
      </div>
    ))}
  </dl>
);
