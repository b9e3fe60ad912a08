// Another file of the project.
int queue_limit(void) { return 8; }
