# Three Rapid buckets, one in each zone that has brokers, and the identity that the daemons use them with.

terraform {
  required_version = ">= 1.5"
  required_providers {
    google = {
      source  = "hashicorp/google"
      version = ">= 7.0"
    }
  }
}

provider "google" {
  project = var.project
  region  = var.region
}

resource "google_storage_bucket" "wal" {
  for_each = toset(var.zones)

  name     = "${var.name}-${each.value}"
  location = upper(var.region)

  # A zonal bucket: it has to have a hierarchical namespace and uniform access.
  storage_class = "RAPID"
  custom_placement_config {
    data_locations = [upper(each.value)]
  }
  hierarchical_namespace {
    enabled = true
  }
  uniform_bucket_level_access = true
  public_access_prevention    = "enforced"

  # The daemon deletes what is dead, minutes to hours after it was written. Kept deleted objects would be paid for; a
  # lifecycle rule by age would delete what RF=1 topics still need.
  soft_delete_policy {
    retention_duration_seconds = 0
  }

  # The buckets hold acknowledged records: they are not to go with a `terraform destroy`.
  force_destroy = false
}

resource "google_service_account" "daemon" {
  account_id   = var.name
  display_name = "Walbridge daemons"
}

# What the daemon calls, and nothing else: it neither lists buckets nor changes one.
resource "google_project_iam_custom_role" "daemon" {
  role_id = replace("${var.name}_daemon", "-", "_")
  title   = "Walbridge daemon"
  permissions = [
    "storage.buckets.get",    # at the start: is the bucket zonal?
    "storage.objects.create", # also to append
    "storage.objects.get",
    "storage.objects.list",   # reconciliation, inspect
    "storage.objects.delete", # also to finalize what is to be deleted, where the service wants that
    "storage.objects.update",
  ]
}

resource "google_storage_bucket_iam_member" "daemon" {
  for_each = google_storage_bucket.wal

  bucket = each.value.name
  role   = google_project_iam_custom_role.daemon.id
  member = google_service_account.daemon.member
}
