declare const htm: {
  bind: <Result>(
    h: (type: never, props: never, ...children: never[]) => Result,
  ) => (strings: TemplateStringsArray, ...values: unknown[]) => Result
}
export default htm
