// A page that is opened from disk cannot start workers; its search then runs in a hidden frame. The
// name of this file tells mkdocs-material that it need not load another work-around.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    #pending = [];
    #frame = document.createElement("iframe");

    constructor(url) {
      super();
      this.#frame.hidden = true;
      this.#frame.answer = (data) => this.dispatchEvent(new MessageEvent("message", {data}));
      this.#frame.srcdoc =
          `<script>postMessage = (data) => frameElement.answer(data)</script>` +
          `<script src="${new URL(url, location)}"></script>`;
      this.#frame.addEventListener("load", () => {
        const pending = this.#pending;
        this.#pending = null;
        pending.forEach((data) => this.postMessage(data));
      });
      document.body.append(this.#frame);
    }

    postMessage(data) {
      if (this.#pending) {
        this.#pending.push(data);
      } else {
        this.#frame.contentWindow.dispatchEvent(new MessageEvent("message", {data}));
      }
    }
  };
}
