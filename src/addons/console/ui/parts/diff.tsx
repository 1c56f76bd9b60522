/** Lines as a diff writes them: `+` and `-` are colours too. */
export const Diff = ({ label, lines }: { readonly label: string; readonly lines: readonly string[] }) => (
  <pre class="diff" tabIndex={0} role="region" aria-label={label}>
    {lines.map((line, index) => (
      <span key={index} class={line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : undefined}>
        {`${line}\n`}
      </span>
    ))}
  </pre>
);
