// Shows what publishing would meet while one types; without scripts the button "Check" shows the same.
"use strict";
const PAUSE = 400; // milliseconds after the last key
const form = document.getElementById("publish");
const choices = document.getElementById("choices");
const preview = document.getElementById("preview");
let timer, request;

form.addEventListener("input", () => {
  clearTimeout(timer);
  request?.abort();
  for (const button of choices.querySelectorAll("button")) button.disabled = true; // it is of the text before
  timer = setTimeout(check, PAUSE);
});

async function check() {
  request = new AbortController();
  const fields = new URLSearchParams(new FormData(form));
  fields.set("check", "");
  try {
    const answer = await fetch(form.action, { method: "POST", body: fields, signal: request.signal });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const parts = [page.querySelector("section.refusal"), ...(page.getElementById("preview")?.childNodes ?? [])];
    document.querySelector("h1 + .refusal")?.remove(); // that of the text before
    preview.replaceChildren(...parts.filter((part) => part !== null));
    choices.replaceChildren(...(page.getElementById("choices")?.childNodes ?? []));
  } catch (error) {
    if (error.name !== "AbortError") preview.textContent = "The registry does not answer; the text is kept here.";
  }
}
